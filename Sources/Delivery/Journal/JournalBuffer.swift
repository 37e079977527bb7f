/// Lines of a lane's journal that wait for their batch, in chunks of at most one batch. Lines that exceed a limit are
/// dropped and counted.
public struct JournalBuffer: Sendable {
    /// The maximum size of all lines.
    public static let bytesMax = 4 << 20
    /// The maximum size of a line.
    public static let lineBytesMax = 32 << 10
    /// The maximum size of a chunk.
    public static let chunkBytesMax = 100 << 10

    /// Lines as JSON, separated by commas.
    public struct Chunk: Sendable, Hashable {
        public fileprivate(set) var lines: [UInt8] = []
        public fileprivate(set) var lineCount = 0

        /// Appends the lines of another chunk.
        mutating func append(_ other: Chunk) {
            if lineCount > 0, other.lineCount > 0 { lines.append(UInt8(ascii: ",")) }
            lines += other.lines
            lineCount += other.lineCount
        }
    }

    public private(set) var chunks: [Chunk] = []
    /// The size of all lines.
    public private(set) var byteCount = 0
    /// The number of dropped lines.
    public private(set) var droppedCount = 0

    public init() {}

    public var isEmpty: Bool { chunks.isEmpty && droppedCount == 0 }
    public var lineCount: Int { chunks.reduce(0) { $0 + $1.lineCount } }

    /// Adds a line, which is a JSON array of a word and an object.
    mutating func add(_ word: StaticString, _ object: ArraySlice<UInt8>) {
        let size = object.count + word.utf8CodeUnitCount + Self.frameBytes
        guard size <= Self.lineBytesMax, byteCount + size <= Self.bytesMax else {
            droppedCount += 1
            return
        }
        if (chunks.last?.lines.count ?? Self.chunkBytesMax) + size > Self.chunkBytesMax { chunks.append(Chunk()) }
        chunks[chunks.count - 1].append(word, object)
        byteCount += size
    }

    /// The bytes of a line besides its word and object, including the comma before the line.
    private static let frameBytes = 6

    /// Returns the lines and the number of dropped lines, and empties the buffer.
    mutating func take() -> JournalBuffer {
        defer { self = JournalBuffer() }
        return self
    }
}

extension JournalBuffer.Chunk {
    fileprivate mutating func append(_ word: StaticString, _ object: ArraySlice<UInt8>) {
        if lineCount > 0 { lines.append(UInt8(ascii: ",")) }
        lines.append(UInt8(ascii: "["))
        lines.append(UInt8(ascii: "\""))
        lines.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
        lines.append(UInt8(ascii: "\""))
        lines.append(UInt8(ascii: ","))
        lines += object
        lines.append(UInt8(ascii: "]"))
        lineCount += 1
    }
}
