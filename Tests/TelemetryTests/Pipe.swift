import CLinux
import Glibc

/// A pipe whose reader is the test.
final class Pipe {
    struct CannotOpen: Error {}

    private var reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CannotOpen() }
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        closeReading()
        close(writing)
    }

    func closeReading() {
        if reading >= 0 { close(reading) }
        reading = -1
    }

    /// Waits for data and returns at most 64 KiB.
    func read() -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(reading, &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }

    func drain(lines: Int) -> String {
        var text = ""
        while text.split(separator: "\n").count < lines || !text.hasSuffix("\n") { text += read() }
        return text
    }

    /// Writes empty lines until the pipe is full.
    func fill() {
        let flags = fcntl(writing, F_GETFL)
        _ = fcntl(writing, F_SETFL, flags | O_NONBLOCK)
        let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: 4096)
        while write(writing, lines, lines.count) > 0 {}
        _ = fcntl(writing, F_SETFL, flags)
    }
}
