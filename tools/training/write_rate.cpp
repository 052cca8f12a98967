#include "tools/training/write_rate.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <vector>

#include "formats/files/descriptor.hpp"

namespace heddle {

namespace {

constexpr std::size_t bytes_to_write = 16 << 20;
constexpr double slow_disk = 50e6;

bool write_and_sync(int file, const std::vector<char>& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(file, bytes.data() + done, bytes.size() - done);
    if (written <= 0) return false;
    done += static_cast<std::size_t>(written);
  }
  return fsync(file) == 0;
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

double measure_write_rate(const std::string& folder) {
  const int number = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (number < 0) return slow_disk;
  const formats::Descriptor file(number, folder);
  const std::vector<char> bytes(bytes_to_write, 1);
  const auto start = std::chrono::steady_clock::now();
  if (!write_and_sync(file.number(), bytes)) return slow_disk;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return static_cast<double>(bytes_to_write) / seconds.count();
}

}  // namespace heddle
