"""Finds the mutants of a Swift file for deploy/check/mutate, and writes a file that contains all of them.

Each mutant has a number. A condition on that number selects it at run time.
"""
import collections
import re

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
         "&+": "&-", "&": "|", "|": "&", "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|="}  # fmt: skip
HELPERS = """import Glibc
let mutant = getenv("MUTANT").flatMap { Int(String(cString: $0)) } ?? -1
public func mutate(_ number: Int) -> Bool { mutant == number }
public func condition(_ number: Int, _ value: Bool) -> Bool {
    mutant == number ? true : mutant == number + 1 ? false : value
}
public func number<T: FixedWidthInteger>(_ number: Int, _ value: T) -> T { mutant == number ? value + 1 : value }
public func character(_ number: Int, _ value: UInt8) -> UInt8 { mutant == number ? value ^ 64 : value }
public func word(_ number: Int, _ value: String) -> String { mutant == number ? value + "?" : value }
"""
STATEMENT = (
    r"\s*(?:case [^\n]*?: |default: )?"
    r"((?:_ = )?(?:try[?!]? )?(?:await )?"
    # Excludes declarations and checks of programming errors.
    r"(?!(?:init|init\?|subscript|\w*\.?assertOnLoop|assert|precondition|preconditionFailure|fatalError)\()"
    r"(?:return|continue|break|[\w.?!]+[\w.?!\[\]]*(?:\(| [-+|&]?= )).*)"
)


# A reserved capacity affects only performance. Tests use named limits by name, so they cannot detect a limit that a
# mutant changes by one.
COSTS_ONLY = re.compile(r"[cC]apacity")
LIMIT = re.compile(r"\b(?:let|var) \w+(?:Max|Min|Seconds|Milliseconds|Bytes|Bits|Percent|Count)\w*(?:: \w+)? = [^{]*$")


def operator(n):
    """Returns the operator that replaces the original operator in mutant n."""
    return "".join(chr(0x2200 + int(digit, 16)) for digit in f"{n:04x}")


def declaration(n, old):
    group, types, result = "Comparison", "<T: Comparable>(a: T, b: T)", " -> Bool"
    body = f"mutate({n}) ? a {SWAPS[old]} b : a {old} b"
    if old in ("==", "!="):
        types = "<T: Equatable>(a: T, b: T)"
    elif old in ("&&", "||"):
        group, types = "LogicalConjunction", "(a: Bool, b: @autoclosure () throws -> Bool)"
        group = group if old == "&&" else "LogicalDisjunction"
        result, body = " rethrows -> Bool", f"mutate({n}) ? try a {SWAPS[old]} b() : try a {old} b()"
    elif old in ("+=", "-=", "|=", "&="):
        group, types, result = "Assignment", "<T: FixedWidthInteger>(a: inout T, b: T)", ""
        body = f"if mutate({n}) {{ a {SWAPS[old]} b }} else {{ a {old} b }}"
    elif old in ("+", "-", "&+", "|", "&"):
        group, types, result = "Addition", "<T: FixedWidthInteger>(a: T, b: T)", " -> T"
        group = "Multiplication" if old == "&" else group
    return f"infix operator {operator(n)}: {group}Precedence\npublic func {operator(n)} {types}{result} {{ {body} }}\n"


class Source:
    def __init__(self, path):
        self.path, self.text, self.strings = path, path.read_text(), []
        strings = r'#*"""[\s\S]*?"""#*|#"[^\n]*?"#|"(?:\\.|[^"\\\n])*"'
        self.code = re.sub(rf"//[^\n]*|{strings}", self.blank, self.text)
        self.edits = {}  # number: [(begin, end, order at one place, text)]
        self.places = {}  # number: [(line, column) in the mutated file]

    def blank(self, match):
        if match[0][0] == '"' and not match[0].startswith('"""'):
            self.strings.append(match.span())
        within = re.sub(r"[^\n]", " ", match[0][1:-1])
        return match[0][0] + within + match[0][-1] if len(match[0]) > 1 else " "

    def line(self, position):
        """Returns the number and text of the line at a position, and the column."""
        begin = self.text.rfind("\n", 0, position) + 1
        return self.text.count("\n", 0, begin) + 1, self.text[begin : self.text.find("\n", position)], position - begin

    def conditions(self):
        """Yields the ranges of conditions: the comma-separated parts after if, guard, while and where, and those before `?`."""
        for match in re.finditer(r"\b(if|guard|while|where) ", self.code):
            depth, begin, position = 0, match.end(), match.end()
            while position < len(self.code):
                mark = self.code[position]
                ends = mark in "{}" or mark == ":" and match[1] == "where" and " ? " not in self.code[begin:position]
                ends = self.code.startswith("else ", position) if match[1] == "guard" else ends
                if depth == 0 and (ends or mark == ","):
                    part = self.code[begin:position]
                    if part.strip() and part != "true " and not re.match(r"\s*(let|var|case|consume)\b", part):
                        left = begin + len(part) - len(part.lstrip())
                        yield left, left + len(part.strip())
                    begin = position + 1
                    if mark != ",":
                        break
                depth += (mark in "([{") - (mark in ")]}")
                position += 1
        for match in re.finditer(r"(?<=[ (\n])(!?[\w.]+(?:\([^()\n]*\))?(?:\[[^\[\]\n]*\])?) \? ", self.code):
            yield match.span(1)

    def statements(self):
        """Yields the ranges of calls, assignments and jumps that are statements, except a function's final value."""
        stack, depths = ["{"], ["{"]  # the open brackets at the beginning of each line
        for mark in re.findall(r"[\[({})\]\n]", self.code):
            if mark == "\n":
                depths.append("".join(stack))
            elif mark in "[({":
                stack.append(mark)
            elif len(stack) > 1:
                stack.pop()
        offset, lines = 0, self.code.split("\n")
        for index, line in enumerate(lines):
            match, last = re.fullmatch(STATEMENT, line), index
            while match and last + 1 < len(lines) and len(depths[last + 1]) > len(depths[index]):
                last += 1
            following = lines[last + 1] if last + 1 < len(lines) else ""
            is_value = re.match(r" {,4}}", following) and (
                match and match[1].startswith("return ") or index and re.search(r"(->|\bvar\b).*\{$", lines[index - 1]))
            continues = re.match(r"\s*[-.?:&|+=*/<>]", following) or re.search(r"[=?:,]$", line)
            is_empty = match and match[1] == "break" and re.match(r"\s*(?:case |default:)", line)
            if match and not is_value and not continues and not is_empty and depths[index][-1] == "{":
                yield offset + match.start(1), offset + sum(len(text) + 1 for text in lines[index : last + 1]) - 1
            offset += len(line) + 1

    def mutants(self):
        """Yields the mutants that a test could detect."""
        for begin, end, around, changed in self.all_mutants():
            _, line, _ = self.line(begin)
            is_number = self.text[begin:end].isdigit()
            if not COSTS_ONLY.search(line) and not (is_number and LIMIT.search(line)):
                yield begin, end, around, changed

    def all_mutants(self):
        """Yields begin, end, the text around the mutant, and its changes. A condition has two changes."""
        for begin, end in self.conditions():
            yield begin, end, ("condition({n}, ", ")"), ["→ true", "→ false"]
        for match in re.finditer(r"(?<=\s)(?<!func )([-<>=!&|+]{1,2})(?=\s)", self.code):
            if match[1] in SWAPS:
                yield *match.span(1), None, [f"→ {SWAPS[match[1]]}"]
        for match in re.finditer(r"(?<![\w.$#\"])(?<!while )(true|false|\d+)(?![\w.]|: )", self.code):
            if match[1].isdigit():
                yield *match.span(1), ("number({n}, ", ")"), [f"→ {int(match[1]) + 1}"]
            else:
                yield *match.span(1), ("(mutate({n}) != ", ")"), ["→ the opposite"]
        for match in re.finditer(r'UInt8\(ascii: ".*?"\)', self.code):
            yield *match.span(), ("character({n}, ", ")"), ["→ another"]
        for begin, end in self.strings:
            # Excludes names of keywords in errors.
            is_name = re.search(r"(keyword: |of: |location\()$", self.code[begin - 9 : begin])
            is_name = is_name or self.code.startswith(", at: ", end)
            if not is_name and re.fullmatch(r'"[^\s\\"]*"', self.text[begin:end]):
                yield begin, end, ("word({n}, ", ")"), ["→ another"]
        for begin, end in self.statements():
            yield begin, end, ("if !mutate({n}) {{ ", " }}"), ["left out"]

    def number(self, n):
        """Numbers the mutants, starting with n. Returns their changes, and declarations of the operators that they need."""
        changes, operators = [], []
        for begin, end, around, changed in self.mutants():
            if around:
                before, behind = (text.format(n=n) for text in around)
                self.edits[n] = [(begin, begin, (1, begin - end), before), (end, end, (0, -begin), behind)]
            else:
                self.edits[n] = [(begin, end, (2, 0), operator(n))]
                operators.append(declaration(n, self.text[begin:end]))
            # A Swift operator alone does not identify the change, so the listing includes adjacent characters.
            shown = self.text[begin:end] if around else self.text[begin - 12 : end + 8]
            shown = " ".join(shown.split())
            line, text, _ = self.line(begin)
            changes += [(n, f"{line}: {shown} {change}   | {text.strip()}") for change in changed]
            n += len(changed)
        return changes, operators

    def write(self, path, dropped):
        """Writes the file with its mutants, and records the position of each."""
        pieces, self.places = [], collections.defaultdict(list)
        for n, edits in self.edits.items():
            pieces += [(*edit, n) for edit in edits if n not in dropped]
        # At one position, ends precede beginnings, and longer ranges begin before shorter ones.
        pieces.sort(key=lambda piece: (piece[0], piece[2]))
        out, line, column, position = ["import Mutant; "], 1, 1 + len("import Mutant; "), 0
        for begin, end, _, text, n in pieces + [(len(self.text), len(self.text), 0, "", None)]:
            for piece in (self.text[position:begin], text):
                if piece is text and n is not None:
                    self.places[n].append((line, column))
                out.append(piece)
                line += piece.count("\n")
                column = len(piece.rsplit("\n", 1)[-1].encode()) + (1 if "\n" in piece else column)
            position = max(position, end)
        # An unchanged file is not written, so it is not compiled again.
        if path.read_text() != "".join(out):
            path.write_text("".join(out))

    def blame(self, line, column, text):
        """Returns the mutants that cause a compiler error: usually the nearest mutant."""
        places, begins = self.places, {n: self.text[edits[0][0] :] for n, edits in self.edits.items()}
        # A class's initializer implicitly calls the superclass's initializer at its end. The compiler reports the error
        # at the beginning.
        end = line + 60 if "implicitly generated" in text else line
        statements = {n for n in places if self.edits[n][0][3].startswith("if !") and places[n][0][0] <= end}
        name = re.search(r"'(?:self\.)?(\w+)' (?:used before|not initialized|.*before being initialized)", text)
        if name:
            return {n for n in statements if end - 60 < places[n][0][0]
                    and re.match(rf"(self\.)?{name[1]}\b|return", begins[n])}  # fmt: skip
        if re.search("missing return|on all paths|without initializing", text):
            before = self.text.split("\n")[:line]  # a function's first and last lines have the same indentation
            head = re.match(r"\s*", before[-1])[0] + r"\S.*(\b(func|init|var|subscript)\b|\{)"
            first = max((i for i, text in enumerate(before) if re.match(head, text)), default=0)
            jumps = r"return|self =|[\w.]+ = " if "without" in text else "return|self ="
            guilty = {n for n in statements if first < places[n][0][0] and re.match(jumps, begins[n])}
            return guilty or {max(statements)} if statements else set()
        if "reasonable time" in text:
            below = [at[0][0] for at in places.values() if at[0][0] >= line]
            return {n for n in places if places[n][0][0] == min(below, default=0)}
        near = {n: min((abs(at[0] - line), abs(at[1] - column)) for at in places[n]) for n in places}
        return {min(near, key=near.get)} if near else set()
