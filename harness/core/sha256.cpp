#include "harness/core/sha256.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <stdexcept>
#include <vector>

#include "harness/core/files.h"
#include "harness/core/system_error.h"

namespace qfs {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() {
    if (context == nullptr || EVP_DigestInit_ex(context, EVP_sha256(), nullptr) != 1) {
      throw std::runtime_error("OpenSSL has no SHA-256");
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::string_view bytes) {
  EVP_DigestUpdate(state_->context, bytes.data(), bytes.size());
  return *this;
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_DigestFinal_ex(state_->context, digest.data(), &size);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string hex;
  hex.reserve(size_t{2} * size);
  for (unsigned i = 0; i < size; ++i) {
    hex += kHex[digest[i] >> 4U];
    hex += kHex[digest[i] & 15U];
  }
  return hex;
}

std::string sha256_hex(std::string_view bytes) { return Sha256().update(bytes).hex(); }

namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr std::time_t kSettledSeconds = 2;

Result<std::string> hash_descriptor(int fd, const std::string& path) {
  Sha256 hash;
  std::vector<char> block(kBlockBytes);
  while (true) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return read_failure(errno, path);
    if (got == 0) return hash.hex();
    hash.update({block.data(), static_cast<size_t>(got)});
  }
}

/// The name under which a file's digest is remembered: everything that changes when its bytes do.
std::string cache_key(const struct stat& facts) {
  const auto time = [](const timespec& t) {
    return std::to_string(t.tv_sec) + "." + std::to_string(t.tv_nsec);
  };
  return sha256_hex(std::to_string(facts.st_dev) + "/" + std::to_string(facts.st_ino) + "/" +
                    std::to_string(facts.st_size) + "/" + time(facts.st_mtim) + "/" +
                    time(facts.st_ctim));
}

bool is_hex_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

Result<std::string> sha256_file(const std::string& path) {
  const Result<UniqueFd> fd = open_input(path, InputKind::regular);
  if (!fd) return fd.error();
  return hash_descriptor(fd->get(), path);
}

Result<std::string> sha256_file_cached(const std::string& path) {
  const Result<UniqueFd> fd = open_input(path, InputKind::regular);
  if (!fd) return fd.error();
  struct stat before {};
  if (::fstat(fd->get(), &before) != 0) return read_failure(errno, path);
  const std::string folder = cache_directory() + "/digests";
  const std::string remembered_at = folder + "/" + cache_key(before);
  constexpr uint64_t kDigestBytes = 64;
  if (const Result<std::string> known = read_file(remembered_at, kDigestBytes);
      known && is_hex_digest(*known)) {
    return *known;
  }
  Result<std::string> digest = hash_descriptor(fd->get(), path);
  if (!digest) return digest;
  // A file that changed while it was read, or so recently that its times could hide another change,
  // is hashed again next time.
  struct stat after {};
  const bool settled = ::fstat(fd->get(), &after) == 0 && cache_key(after) == cache_key(before) &&
                       std::time(nullptr) - after.st_mtim.tv_sec > kSettledSeconds;
  if (settled && make_directories(folder).ok()) {
    static_cast<void>(write_file(remembered_at, *digest).ok());
  }
  return digest;
}

}  // namespace qfs
