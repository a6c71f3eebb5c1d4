#!/usr/bin/python3
"""Finds sources that forgot an #include, which a unity build does not notice: a neighbour has it.

    scripts/check-includes.py          prints file:line of what is used and not included, exits 1 if there is any

Reads text and knows no C++, and so takes a second and not minutes: a file of src/ that names a type or a function of
one of our headers, or one of the names of the standard library below, must include that header, or a header of ours
that does. Of the includes that a source cannot be without it misses one in seven; compiling each source alone, as the
presets dev and coverage do, finds all.
"""
import pathlib
import re
import sys

SRC = pathlib.Path(__file__).resolve().parent.parent / "src"
STANDARD = {
    "algorithm": "all_of any_of clamp copy copy_if count_if equal find find_if max_element min_element none_of "
                 "remove_if replace reverse rotate search sort stable_sort transform unique",
    "array": "array to_array",
    "atomic": "atomic atomic_bool",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "condition_variable": "condition_variable",
    "deque": "deque",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "function",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "lock_guard mutex once_flag scoped_lock unique_lock",
    "numeric": "accumulate iota",
    "optional": "nullopt optional",
    "queue": "priority_queue queue",
    "set": "multiset set",
    "span": "span",
    "sstream": "istringstream ostringstream stringstream",
    "string": "string to_string",
    "string_view": "string_view",
    "thread": "jthread this_thread thread",
    "tuple": "tie tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in STANDARD.items() for name in names.split()}
NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
TYPE = re.compile(r"^( *)(?:enum class|class|struct|using) (\w+)(?: final)?\b(?! *;)", re.MULTILINE)

# What looks like the declaration or the definition of a function: "Result<int> run(", "  bool next(".
FUNCTION = re.compile(r"^( *)(?!return\b|else\b|throw\b|new\b)[\w:][\w:<>,*&\[\] ]*[ &*](\w+)\(", re.MULTILINE)
FORWARD = re.compile(r"^(?:class|struct|enum class) (\w+)(?: : [\w:]+)?;", re.MULTILINE)


def code(text):
    """The text without comments and literals; lines stay where they are."""
    return NOISE.sub(lambda found: "\n" * found.group().count("\n"), text)


def main():
    text = {path: path.read_text() for pattern in ("*.cpp", "*.hpp") for path in sorted(SRC.rglob(pattern))}
    bare = {path: code(whole) for path, whole in text.items()}
    direct = {path: set(INCLUDE.findall(whole)) for path, whole in text.items()}
    reach = {}

    def reached(path):
        if path not in reach:
            reach[path] = set()   # for circles
            found = set(direct[path])
            for name in direct[path]:
                if SRC / name in direct:
                    found |= reached(SRC / name)
            reach[path] = found
        return reach[path]

    def declares(header, function):
        return re.search(rf"^\S.* [&*]?{function}\(", bare.get(header, ""), re.MULTILINE)

    # What stands at the top of one of our headers; a name that means something else somewhere says nothing.
    places = {}
    for path, part in bare.items():
        own = path.relative_to(SRC).with_suffix(".hpp")
        for pattern, call in ((TYPE, ""), (FUNCTION, "(")):
            for indent, name in pattern.findall(part):
                declared = path.suffix == ".hpp" or (call and declares(SRC / own, name))
                places.setdefault(name + call, set()).add(own.as_posix() if declared and not indent else None)
    ours = {name: next(iter(where)) for name, where in places.items() if len(where) == 1 and None not in where}

    def forward(path):
        near = [path, *(SRC / name for name in reached(path) if SRC / name in bare)]
        return {name for each in near for name in FORWARD.findall(bare[each])}

    failed = False
    for path, part in bare.items():
        own, seen = path.relative_to(SRC).as_posix(), set()
        for number, line in enumerate(part.splitlines(), 1):
            if line.lstrip().startswith("#"):
                continue
            names = [name for name in re.findall(r"\bstd::(\w+)", line) if name in HEADER_OF]
            wanted = {("std::" + name, HEADER_OF[name]) for name in names}
            wanted |= {(name, ours[name]) for name in re.findall(r"(?<![\w.>:])\w+\(?", line) if name in ours}
            for name, header in sorted(wanted - seen):
                seen.add((name, header))
                if header != own and header not in reached(path) and name not in forward(path):
                    failed = True
                    print(f"src/{own}:{number}: {name.rstrip('(')} needs {header}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
