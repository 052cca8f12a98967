// A tool's command line. read<Options>() fills the tool's option struct and the options that all tools share:
// defaults < --config file < environment (HEDDLE_PRETRAIN_LAYERS for --layers of pretrain, HEDDLE_THREADS for the
// common --threads) < flags.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/hdf5/hdf5.hpp"
#include "libcore/tensor/context.hpp"
#include "tools/cli/completion.hpp"
#include "tools/cli/given_settings.hpp"
#include "tools/cli/help.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/streams.hpp"

namespace heddle::cli {

// The options that every tool has. A tool's own field of the same name replaces the common option, which then takes its
// value.
struct CommonOptions {
  Index seed = 1;
  Index threads = 0;  // after read(): the number in use
  bool quiet = false;
  bool verbose = false;
  bool trust = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("seed", "seed of the random numbers").range(0), self.seed);
    visitor(Field("threads",
                  "number of threads; auto means OMP_NUM_THREADS, else SLURM_CPUS_PER_TASK, else all processors that "
                  "this process may use")
                .range(1, 1024)
                .word(0, "auto"),
            self.threads);
    visitor(Field("quiet", "print no progress and no notes on standard error").letter('q').essential(), self.quiet);
    visitor(Field("verbose", "print more notes on standard error").letter('v'), self.verbose);
    visitor(Field("trust",
                  "read HDF5 files with the HDF5 library, which supports the whole format, but which malicious files "
                  "can crash or exploit; only for files that you trust"),
            self.trust);
  }
};

// Options that print something and exit, and the source of options (--config). Only the command line can set them. A
// tool's own field of the same name replaces one of these, too.
struct Requests {
  std::string config;
  bool print_config = false;
  std::string help;
  bool version = false;
  bool help_man = false;
  Shell completion = Shell::none;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("config", "INI file of options; flags override it").takes("FILE").essential(), self.config);
    visitor(Field("print_config",
                  "print the options in effect as such a file, with those that were not given as comments, and exit"),
            self.print_config);
    visitor(Field("help", "print the help of a topic and exit")
                .letter('h')
                .bare_value("essential")
                .takes("TOPIC")
                .essential(),
            self.help);
    visitor(Field("version", "print the versions and exit").essential(), self.version);
    visitor(Field("help_man", "print the options in the markup of the man page (scdoc) and exit"), self.help_man);
    visitor(Field("completion", "print the completion script for a shell and exit"), self.completion);
  }
};

// Thrown by read() after --help, --version or --print-config were answered on standard output; run() ends with 0.
struct Finished {};

// An option that the tool, or its verb, does not have.
class UnknownOption : public UsageError {
 public:
  UnknownOption(std::string option, const std::string& message) : UsageError(message), option_(std::move(option)) {}
  const std::string& option() const { return option_; }  // as the user wrote it, without a value

 private:
  std::string option_;
};

class Arguments {
 public:
  // `words` is the command line without the program's name.
  Arguments(const About& about, std::vector<std::string> words);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // Call it once, first. `complete(options)` may fill in what depends on other options, a preset's values say, before
  // --print-config prints; it should leave alone what was given(). From here on the calling thread computes in a
  // context of --threads threads, as long as this object lives. Throws UsageError for wrong usage, options without what
  // they need among it, DataError for an unreadable or malformed --config file.
  template <Visitable Options, class Complete>
  Options read(const Complete& complete) {
    Options options;
    OptionTable table;
    table.add(options, "Options");
    parse(table);
    complete(options);
    settle(table);
    return options;
  }
  template <Visitable Options>
  Options read() {
    return read<Options>([](Options&) {});
  }

  // The options of read<Options>() for help and completion; they cannot be set, and hold only defaults.
  template <Visitable Options>
  static OptionTable options_of(const About& about) {
    Options options;
    OptionTable table;
    table.add(options, "Options");
    return Arguments(about, {}).described(std::move(table));
  }

  // Whether the user set the option, in whichever way. The name may have underscores or dashes.
  bool given(std::string_view option) const;

  // The words for an operand that About declares.
  const std::vector<std::string>& operands(std::string_view name) const;
  // The words for all of them.
  std::vector<std::string> operands() const;
  // The only word for it, or "".
  std::string operand(std::string_view name) const;
  // The words for it, or "-" (standard input) when there are none. Throws UsageError rather than wait for someone to
  // type: when there are none and standard input is a terminal.
  std::vector<std::string> input_or_usage(std::string_view name) const;

  // The file that options were read from, by --config or HEDDLE_CONFIG; or "".
  const std::string& config_file() const { return config_file_; }

  // To be called before read(), for a process that is one of several on the same processors: they share these by
  // default, and but for the first none speaks: say(), detail() and warn() print nothing, as with --quiet.
  void be_one_of(int sharing, bool speaks) {
    sharing_ = sharing;
    speaks_ = speaks;
  }

  // Takes another default of --seed.
  void use_seed(Index seed) { common_.seed = given("seed") ? common_.seed : seed; }

  const CommonOptions& common() const { return common_; }
  const std::string& tool() const { return about_.name; }  // name without its verb
  // The command as a shell would take it, for the provenance of files; without some of its options, as they are
  // called in full, for what a user may run next.
  std::string command_line(const std::set<std::string>& without = {}) const;

  // Prints "tool: text" to standard error: say() unless -q, detail() only with -v, warn() always.
  void say(std::string_view text) const;
  void detail(std::string_view text) const;
  // Once for each text.
  void warn(std::string_view text) const;
  // The text with fields as the tool's options, which say(), detail(), warn(), and run() for errors, print anyway.
  std::string rendered(std::string_view text) const;
  // Opens a text by its name; warns if it is not UTF-8. Throws as Input does.
  Input open_text(const std::string& path) const;
  // The same in another encoding.
  Input open_text(const std::string& path, const Input::Encoding& encoding) const;

 private:
  std::vector<std::string> help_topics(const OptionTable& table) const;
  void add_shared(OptionTable& table);
  OptionTable described(OptionTable table);
  void parse(OptionTable& table);
  void settle(const OptionTable& table);
  void answer_requests(const OptionTable& table) const;
  void warn_of_repeated(const std::vector<std::string>& options) const;
  std::vector<Setting> config_settings(const OptionTable& table);
  std::vector<Setting> environment_settings(const OptionTable& table) const;
  void assign_operands(const std::vector<std::string>& words);
  struct Threads {
    Index count;
    std::string reason;
  };
  Threads threads_by_default() const;

  About about_;
  std::vector<std::string> words_;
  OptionTable described_;  // all options, for messages; empty before read()
  CommonOptions common_;
  Requests requests_;
  std::string config_file_;
  GivenOptions given_;
  GivenOptions explicit_;  // options of the command line and the file; a variable may have been set for another command
  std::string operand_hint_;  // to the message about a word too many
  std::vector<std::vector<std::string>> operands_;
  std::optional<formats::hdf5::TrustScope> trust_;
  std::optional<ContextScope> context_;
  int sharing_ = 1;
  bool speaks_ = true;
  mutable std::set<std::string> warnings_;
};

// The result of body(). In the message of an Error that leaves it, fields are written as the tool's options.
template <class Body>
auto with_rendered_errors(const Arguments& arguments, const Body& body) {
  try {
    return body();
  } catch (Error& error) {
    error.reword(arguments.rendered(error.what()));
    throw;
  }
}

}  // namespace heddle::cli
