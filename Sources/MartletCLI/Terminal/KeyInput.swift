import Glibc

/// A person's terminal that gives each key at once and does not show it, until `end`.
final class KeyInput {
    private var former = termios()

    /// nil where no person could press a key, or another job has the terminal.
    init?() {
        guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &former) == 0
        else { return nil }
        var raw = former
        raw.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0 else { return nil }
    }

    func end() { tcsetattr(STDIN_FILENO, TCSANOW, &former) }

    enum Key {
        case quit, other, ended
    }

    /// Reads the keys that were pressed; `ended` at the end of the input.
    func read() -> Key {
        var keys = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(STDIN_FILENO, &keys, keys.count)
        guard count > 0 else { return .ended }
        return keys.prefix(count).contains { $0 | 0x20 == UInt8(ascii: "q") } ? .quit : .other
    }
}
