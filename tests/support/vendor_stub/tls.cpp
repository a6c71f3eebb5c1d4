#include "tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstring>
#include <stdexcept>
#include <string_view>

namespace stub {

namespace {

// In wire form, the one we like best first.
constexpr std::string_view both_protocols = "\x02h2\x08http/1.1";
constexpr std::string_view only_http1 = "\x08http/1.1";

int select_protocol(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* offered,
                    unsigned offered_length, void* argument) {
  const auto* ours = static_cast<const std::string_view*>(argument);
  unsigned char* chosen = nullptr;
  const int result = SSL_select_next_proto(&chosen, out_length, reinterpret_cast<const unsigned char*>(ours->data()),
                                           static_cast<unsigned>(ours->size()), offered, offered_length);
  if (result != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

void ContextDeleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

TlsContext make_tls_context(const TlsSettings& settings) {
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  if (!context) throw std::runtime_error("no TLS context");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // The out buffer of a connection may move between two tries to write it.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_use_certificate_chain_file(context.get(), settings.certificate.c_str()) != 1) {
    throw std::runtime_error("cannot use certificate " + settings.certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), settings.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    throw std::runtime_error("cannot use key " + settings.key);
  }
  const std::string_view* protocols = settings.http2 ? &both_protocols : &only_http1;
  SSL_CTX_set_alpn_select_cb(context.get(), select_protocol, const_cast<std::string_view*>(protocols));
  return context;
}

}  // namespace stub
