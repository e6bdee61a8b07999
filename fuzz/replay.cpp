// Runs a fuzz target over files instead of inventions: where the compiler has no fuzzer, the kept
// corpus is still tried by every test run. Arguments: files or folders.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

int tried = 0;

void try_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  // Whatever is right must be so cut short at any place, too.
  for (std::size_t size = 0; size < bytes.size() && size < 512; ++size)
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), size);
  ++tried;
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      try_file(argv[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator{argv[i]})
      if (entry.is_regular_file()) try_file(entry.path());
  }
  std::printf("%d passed, %d failed\n", tried, tried == 0 ? 1 : 0);
  return tried == 0 ? 1 : 0;
}
