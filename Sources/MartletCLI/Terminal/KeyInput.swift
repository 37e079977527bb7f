import Glibc

/// A terminal in a mode that delivers each key immediately and does not echo it. `end` restores the previous mode.
final class KeyInput {
    private var former = termios()

    /// Sets the mode. Returns nil if standard input is not a terminal, another job uses the terminal, or the mode
    /// cannot be set.
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

    /// Reads the pressed keys. Returns `ended` at the end of the input or after an error.
    func read() -> Key {
        var keys = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(STDIN_FILENO, &keys, keys.count)
        guard count > 0 else { return .ended }
        return keys.prefix(count).contains { $0 | 0x20 == UInt8(ascii: "q") } ? .quit : .other
    }
}
