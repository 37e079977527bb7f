import CLinux
import Glibc

/// Reads documents from a file or from standard input (`-`): all of it as one, or each line as soon as it is complete.
/// Of one that is too long there is one byte more than its limit, by which a parser sees it.
struct DocumentReader: ~Copyable {
    private let descriptor: Int32
    private let bytesMax: Int
    private var buffer: [UInt8] = []
    /// Bytes of the buffer that were returned already.
    private var start = 0
    private var isAtEnd = false

    init(_ path: String, bytesMax: Int) throws(ReferenceResolver.ReadFailure) {
        self.bytesMax = bytesMax
        descriptor = try FileReader.open(path, allowsStandardInput: true)
    }

    deinit {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    mutating func all() throws(ReferenceResolver.ReadFailure) -> [UInt8] {
        while buffer.count <= bytesMax, try readMore() {}
        return Array(buffer.prefix(bytesMax + 1))
    }

    /// The next line without its end; nil behind the last one.
    mutating func line() throws(ReferenceResolver.ReadFailure) -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n"))
            line += buffer[start..<(end ?? buffer.count)].prefix(bytesMax + 1 - line.count)
            start = end.map { $0 + 1 } ?? buffer.count
            if end != nil { return line }
            buffer.removeAll(keepingCapacity: true)
            start = 0
            guard try readMore() else { return line.isEmpty ? nil : line }
        }
    }

    private mutating func readMore() throws(ReferenceResolver.ReadFailure) -> Bool {
        guard !isAtEnd else { return false }
        isAtEnd = try !FileReader.append(from: descriptor, to: &buffer)
        return !isAtEnd
    }
}
