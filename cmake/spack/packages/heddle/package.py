from spack.package import *


class Heddle(CMakePackage):
    """Transformers as Unix tools: programs that train them, run them and look inside them, with
    self-contained HDF5 files between them."""

    # Versions have no address: `spack dev-build` takes the sources from the current folder.
    version("0.1.0")

    license("Apache-2.0")

    variant("mpi", default=True, description="Train on several ranks of mpirun or srun")

    variant("symbolic", default=False, description="Prove Lyapunov functions with GiNaC and FLINT")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("blas")
    depends_on("hdf5@1.10.7:~mpi")
    depends_on("boost+program_options+serialization")
    depends_on("nlohmann-json")
    depends_on("xxhash")
    depends_on("utf8proc")
    depends_on("fmt")
    depends_on("zlib-api")
    depends_on("cairo+pdf+svg")
    depends_on("pango")
    depends_on("mpi", when="+mpi")
    depends_on("ginac", when="+symbolic")
    depends_on("flint", when="+symbolic")

    conflicts("%gcc@:11", msg="heddle needs a compiler for C++20")

    def cmake_args(self):
        # Spack has no package of scdoc, which makes the man pages: the system's is used, an external package or one in PATH.
        return [
            self.define_from_variant("HEDDLE_MPI", "mpi"),
            self.define_from_variant("HEDDLE_SYMBOLIC", "symbolic"),
            self.define("HEDDLE_TESTS", False),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        with working_dir("spack-check", create=True):
            with open("text.txt", "w") as text:
                text.write("the cat sees a dog\n")
            tokenize = Executable(self.prefix.bin.tokenize)
            tokenize("-q", "--train", "--model", "byte", "-o", "bytes.h5", "text.txt")
            tokenize("-q", "-t", "bytes.h5", "-o", "tokens.h5", "text.txt")
            Executable(self.prefix.bin.inspect)("verify", "tokens.h5")
