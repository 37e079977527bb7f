import Configuration
package import EventLoop
import Glibc
import Registrations

/// A reader of the lines of a file or of standard input (`-`). It holds at most one line and one chunk in
/// memory.
package struct ImportReader: ~Copyable {
    package enum Line: Equatable, Sendable {
        /// The bytes of a line without its line end.
        case text([UInt8])
        /// A line that is longer than a command may be.
        case tooLong
    }

    private static let pollMilliseconds = 10
    private static let newline = UInt8(ascii: "\n")

    private let path: String
    private let descriptor: Int32
    /// The size of the file; nil for standard input.
    package let size: Int?
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// The consumed bytes of the current line, up to the maximum length of a line and its line end.
    private var partial: [UInt8] = []
    private var hasPartial = false
    /// The place after all consumed bytes. Immediately after `line` has returned a line, the place is the end of this
    /// line.
    package private(set) var place = ImportPlace()

    /// Opens a regular file, or standard input.
    package init(_ path: String) throws(ImportError) {
        self.path = path
        do throws(ReferenceResolver.ReadFailure) {
            descriptor = try FileReader.open(path, allowsStandardInput: true, refusesPipes: true)
        } catch {
            throw Self.unreadable(path, error.reason)
        }
        var status = stat()
        size = path != "-" && fstat(descriptor, &status) == 0 ? Int(status.st_size) : nil
    }

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// Returns the next line; nil after the last line. The loop keeps running while standard input has no
    /// data.
    ///
    /// - Parameter isOver: Called repeatedly during the wait; true ends the wait, and the result is nil.
    package mutating func line(on loop: EventLoop, unless isOver: () -> Bool) async throws(ImportError) -> Line? {
        while true {
            if let line = popLine() { return line }
            guard !isAtEnd else { return rest() }
            var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&input, 1, 0) == 0 {
                guard !isOver() else { return nil }
                await loop.sleep(for: .milliseconds(Self.pollMilliseconds))
            }
            try readMore()
        }
    }

    /// Reads the lines before a checkpoint, and compares them with the checkpoint. Blocks.
    ///
    /// - Parameter parser: Receives lines until it knows the format of the file.
    /// - Throws: ``ImportError`` if the file cannot be read, its header is invalid, or the lines have changed.
    mutating func skip(to checkpoint: ImportCheckpoint, _ parser: inout ImportParser) throws(ImportError) {
        while place.line < checkpoint.line {
            guard let line = popLine() ?? (isAtEnd ? rest() : nil) else {
                if isAtEnd { break }
                try readMore()
                continue
            }
            guard parser.isFormatUndecided, case .text(let text) = line else { continue }
            _ = try parser.content(of: text, now: 0)
        }
        guard place.line == checkpoint.line, place.bytes == checkpoint.bytes, place.hash == checkpoint.hash else {
            throw ImportError(
                "cannot resume the import of \(path): its first \(checkpoint.line) lines have changed; to import all "
                    + "lines again, run the command without --resume; newer registrations stay unchanged")
        }
    }

    private mutating func popLine() -> Line? {
        let end = buffer[start...].firstIndex(of: Self.newline)
        let consumed = buffer[start..<(end.map { $0 + 1 } ?? buffer.count)]
        hasPartial = hasPartial || !consumed.isEmpty
        partial += consumed.prefix(ReceivedCommand.bytesMax + 2 - partial.count)
        place.advance(over: consumed)
        start += consumed.count
        guard end != nil else {
            buffer.removeAll(keepingCapacity: true)
            start = 0
            return nil
        }
        return takeLine()
    }

    private mutating func rest() -> Line? { hasPartial ? takeLine() : nil }

    private mutating func takeLine() -> Line {
        defer {
            partial.removeAll(keepingCapacity: true)
            hasPartial = false
        }
        place.endLine()
        partial.removeLineEnd()
        return partial.count > ReceivedCommand.bytesMax ? .tooLong : .text(partial)
    }

    private mutating func readMore() throws(ImportError) {
        guard !isAtEnd else { return }
        do throws(ReferenceResolver.ReadFailure) {
            isAtEnd = try !FileReader.append(from: descriptor, to: &buffer)
        } catch {
            throw Self.unreadable(path, error.reason)
        }
    }

    private static func unreadable(_ path: String, _ reason: String) -> ImportError {
        ImportError("cannot read \(path == "-" ? "standard input" : path): \(reason)")
    }
}
