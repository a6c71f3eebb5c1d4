// The static program must not load modules of the host (name service, character sets, shared libraries): it crashes
// where the host's glibc is another one than it was built with. The libraries below mention functions that would, in
// code that we never reach. The linker redirects those references here (--wrap, the list is in settings.cmake), where
// the answer is "no". So glibc's bodies stay out of the program, and the linker's warning about them is an error
// without exceptions:
//
//   dlopen …             SQLite's load_extension, OpenSSL's engines and provider modules
//   getaddrinfo …        OpenSSL's BIO addresses; names are resolved by libcurl through c-ares
//   getservby…           c-ares, for names of services; libcurl gives it port numbers
//   iconv …              libstdc++'s named locales; our tables are built in
//
// Anything else that needs the host's modules (getpwnam, getgrnam, …) breaks the link. Keep it so.

#include <dlfcn.h>
#include <iconv.h>
#include <netdb.h>

#include <cerrno>

extern "C" {

decltype(dlopen) __wrap_dlopen;
decltype(dlsym) __wrap_dlsym;
decltype(dlclose) __wrap_dlclose;
decltype(dladdr) __wrap_dladdr;
decltype(dlerror) __wrap_dlerror;
decltype(getaddrinfo) __wrap_getaddrinfo;
decltype(freeaddrinfo) __wrap_freeaddrinfo;
decltype(getnameinfo) __wrap_getnameinfo;
decltype(gethostbyname) __wrap_gethostbyname;
decltype(getservbyname) __wrap_getservbyname;
decltype(getservbyport_r) __wrap_getservbyport_r;
decltype(iconv_open) __wrap_iconv_open;
decltype(iconv) __wrap_iconv;
decltype(iconv_close) __wrap_iconv_close;

void* __wrap_dlopen(const char*, int) noexcept { return nullptr; }
void* __wrap_dlsym(void*, const char*) noexcept { return nullptr; }
int __wrap_dlclose(void*) noexcept { return -1; }
int __wrap_dladdr(const void*, Dl_info*) noexcept { return 0; }
char* __wrap_dlerror() noexcept {
  static char text[] = "a static program loads no modules";
  return text;
}

int __wrap_getaddrinfo(const char*, const char*, const addrinfo*, addrinfo** result) {
  *result = nullptr;
  return EAI_FAIL;
}
void __wrap_freeaddrinfo(addrinfo*) noexcept {}
int __wrap_getnameinfo(const sockaddr*, socklen_t, char*, socklen_t, char*, socklen_t, int) { return EAI_FAIL; }
hostent* __wrap_gethostbyname(const char*) {
  h_errno = NO_RECOVERY;
  return nullptr;
}

servent* __wrap_getservbyname(const char*, const char*) { return nullptr; }
int __wrap_getservbyport_r(int, const char*, servent*, char*, size_t, servent** result) {
  *result = nullptr;
  return 0;
}

iconv_t __wrap_iconv_open(const char*, const char*) {
  errno = EINVAL;
  return reinterpret_cast<iconv_t>(-1);
}
size_t __wrap_iconv(iconv_t, char**, size_t*, char**, size_t*) {
  errno = EBADF;
  return static_cast<size_t>(-1);
}
int __wrap_iconv_close(iconv_t) { return -1; }

}  // extern "C"
