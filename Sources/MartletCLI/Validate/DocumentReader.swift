import CLinux
import Configuration
import EventLoop
import Glibc

/// A reader of documents from a file or standard input (`-`): the whole content as one document, or each line when it
/// is complete. A document that exceeds the limit is cut one byte after the limit, so that a parser rejects the
/// document.
struct DocumentReader: ~Copyable {
    private static let pollMilliseconds = 10

    private let descriptor: Int32
    private let bytesMax: Int
    private var buffer: [UInt8] = []
    /// The number of bytes of the buffer that `popLine` has consumed.
    private var start = 0
    private var isAtEnd = false
    /// The beginning of an incomplete line.
    private var partial: [UInt8] = []

    /// Opens a document.
    ///
    /// - Parameter awaitsWriter: whether the open of a named pipe waits for its writer. false for `line(on:unless:)`,
    ///   which waits itself.
    init(_ path: String, bytesMax: Int, awaitsWriter: Bool = true) throws(ReferenceResolver.ReadFailure) {
        self.bytesMax = bytesMax
        descriptor = try FileReader.open(path, allowsStandardInput: true, awaitsWriter: awaitsWriter)
    }

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    mutating func all() throws(ReferenceResolver.ReadFailure) -> [UInt8] {
        while buffer.count <= bytesMax, try readMore() {}
        return Array(buffer.prefix(bytesMax + 1))
    }

    /// Returns the next line without its line end; nil after the last line.
    mutating func line() throws(ReferenceResolver.ReadFailure) -> [UInt8]? {
        while true {
            if let line = popLine() { return line }
            guard try readMore() else { return rest() }
        }
    }

    /// Returns the next line as `line()` does, for slow input. The loop continues during the wait.
    ///
    /// - Parameter isOver: called repeatedly during the wait; true ends the wait, and the result is nil.
    mutating func line(
        on loop: EventLoop, unless isOver: () -> Bool
    ) async throws(ReferenceResolver.ReadFailure) -> [UInt8]? {
        while true {
            if let line = popLine() { return line }
            var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&input, 1, 0) == 0 {
                guard !isOver() else { return nil }
                await loop.sleep(for: .milliseconds(Self.pollMilliseconds))
            }
            guard try readMore() else { return rest() }
        }
    }

    private mutating func popLine() -> [UInt8]? {
        let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n"))
        partial += buffer[start..<(end ?? buffer.count)].prefix(bytesMax + 1 - partial.count)
        start = end.map { $0 + 1 } ?? buffer.count
        if end != nil { return takePartial() }
        buffer.removeAll(keepingCapacity: true)
        start = 0
        return nil
    }

    private mutating func rest() -> [UInt8]? { partial.isEmpty ? nil : takePartial() }

    private mutating func takePartial() -> [UInt8] {
        defer { partial = [] }
        return partial
    }

    private mutating func readMore() throws(ReferenceResolver.ReadFailure) -> Bool {
        guard !isAtEnd else { return false }
        isAtEnd = try !FileReader.append(from: descriptor, to: &buffer)
        return !isAtEnd
    }
}
