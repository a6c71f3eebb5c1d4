#pragma once

#include <string>
#include <string_view>

namespace notify {

// Writes mdoc(7) source that `mandoc -T lint` finds nothing in: one sentence a line, lines of at most 78
// bytes, everything escaped that the language would take for itself. Input: the texts of pages (`literal`
// marked).
class Mdoc {
 public:
  // ".Dd", ".Dt", ".Os" and the NAME section.
  Mdoc(std::string_view name, int section, std::string_view summary);

  void section(std::string_view heading);     // .Sh
  void subsection(std::string_view heading);  // .Ss
  void text(std::string_view text);           // filled paragraphs, divided by blank lines
  void literal(std::string_view block);       // an example, as it stands
  void macro(std::string_view line);          // a line of source
  void begin_list(std::string_view width = "Ds");
  void item(std::string_view tag);  // .It; its text follows
  void end_list();

  const std::string& source() const noexcept { return source_; }

  // As argument of a macro: quoted and escaped so that it is taken for text.
  static std::string argument(std::string_view text);
  // "--batch" as `Fl -batch`, "-q" as `Fl q`.
  static std::string flag(std::string_view name);

 private:
  void sentence(std::string_view words);

  std::string source_{};
  bool after_heading_ = true;  // no .Pp before the first paragraph
};

}  // namespace notify
