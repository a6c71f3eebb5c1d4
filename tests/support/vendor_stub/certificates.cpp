// A private CA and server certificates, made with the OpenSSL API so that tests need no tool.
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

#include "text.hpp"
#include "tls.hpp"

namespace stub {

namespace {

template <auto Free>
struct Freer {
  void operator()(auto* object) const { Free(object); }
};
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freer<X509_free>>;
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;

constexpr long day = 24L * 3600;

struct Pair {
  Certificate certificate;
  Key key;
};

void must(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string("certificate: ") + what);
}

Key new_key() {
  Key key(EVP_EC_gen("P-256"));
  must(key != nullptr, "no key");
  return key;
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  must(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1, "bad extension");
  X509_EXTENSION_free(extension);
}

// A certificate without extensions or signature, valid from `start` to `end` seconds from now.
Certificate blank(const std::string& name, EVP_PKEY* key, long start, long end) {
  Certificate certificate(X509_new());
  X509* raw = certificate.get();
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  X509_set_version(raw, 2);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(raw), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(raw), start);
  X509_gmtime_adj(X509_getm_notAfter(raw), end);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(raw), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  must(X509_set_pubkey(raw, key) == 1, "bad key");
  return certificate;
}

Pair make_authority(const std::string& name) {
  Pair authority{nullptr, new_key()};
  authority.certificate = blank(name, authority.key.get(), -day, 3650 * day);
  X509* raw = authority.certificate.get();
  X509_set_issuer_name(raw, X509_get_subject_name(raw));
  add_extension(raw, raw, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(raw, raw, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(raw, raw, NID_subject_key_identifier, "hash");
  must(X509_sign(raw, authority.key.get(), EVP_sha256()) > 0, "cannot sign");
  return authority;
}

Pair make_server(const Pair& authority, CertificateKind kind) {
  const long start = kind == CertificateKind::expired ? -30 * day : kind == CertificateKind::future ? 30 * day : -day;
  const long end = kind == CertificateKind::expired ? -day : 365 * day;
  const bool other_name = kind == CertificateKind::wrong_host;
  Pair server{nullptr, new_key()};
  server.certificate = blank(other_name ? "other.invalid" : "localhost", server.key.get(), start, end);
  X509* raw = server.certificate.get();
  X509* issuer = authority.certificate.get();
  X509_set_issuer_name(raw, X509_get_subject_name(issuer));
  add_extension(raw, issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(raw, issuer, NID_ext_key_usage, "serverAuth");
  add_extension(raw, issuer, NID_subject_alt_name,
                other_name ? "DNS:other.invalid" : "DNS:localhost,IP:127.0.0.1,IP:::1");
  add_extension(raw, issuer, NID_authority_key_identifier, "keyid");
  must(X509_sign(raw, authority.key.get(), EVP_sha256()) > 0, "cannot sign");
  return server;
}

std::string content_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

void save(const Pair& pair, const std::string& certificate_file, const std::string& key_file) {
  const Bio certificate(BIO_new(BIO_s_mem()));
  const Bio key(BIO_new(BIO_s_mem()));
  must(PEM_write_bio_X509(certificate.get(), pair.certificate.get()) == 1, "cannot write");
  must(PEM_write_bio_PrivateKey(key.get(), pair.key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1, "cannot write");
  write_file_atomically(key_file, content_of(key.get()), 0600);
  write_file_atomically(certificate_file, content_of(certificate.get()), 0644);
}

Pair load(const std::string& certificate_file, const std::string& key_file) {
  const Bio certificate(BIO_new_file(certificate_file.c_str(), "r"));
  const Bio key(BIO_new_file(key_file.c_str(), "r"));
  must(certificate != nullptr && key != nullptr, "cannot read the CA");
  Pair pair{Certificate(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr)),
            Key(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr))};
  must(pair.certificate != nullptr && pair.key != nullptr, "cannot read the CA");
  return pair;
}

// Several stubs started at once may share the directory; the first makes the CA.
Pair shared_authority(const std::string& directory) {
  const std::string certificate = directory + "/ca.pem", key = directory + "/ca.key";
  const int lock = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  must(lock >= 0 && ::flock(lock, LOCK_EX) == 0, "cannot lock the directory");
  const bool there = ::access(certificate.c_str(), R_OK) == 0 && ::access(key.c_str(), R_OK) == 0;
  Pair authority = there ? load(certificate, key) : make_authority("Vendor Stub CA");
  if (!there) save(authority, certificate, key);
  ::close(lock);
  return authority;
}

}  // namespace

void make_certificates(TlsSettings& settings) {
  const std::string& directory = settings.self_signed;
  ::mkdir(directory.c_str(), 0755);
  Pair authority = shared_authority(directory);
  if (settings.kind == CertificateKind::unknown_ca) authority = make_authority("Unknown CA");
  const Pair server = make_server(authority, settings.kind);
  const std::string stem = directory + "/server-" + std::to_string(::getpid());
  settings.certificate = stem + ".pem";
  settings.key = stem + ".key";
  save(server, settings.certificate, settings.key);
}

void remove_server_certificate(const TlsSettings& settings) {
  ::unlink(settings.certificate.c_str());
  ::unlink(settings.key.c_str());
}

}  // namespace stub
