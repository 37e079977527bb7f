/// Bytes that a protocol has produced and the transport has not accepted yet. The buffer grows on demand and keeps its
/// memory. The buffer itself enforces no limit. A writer that checks `isFull` before each message exceeds the limit by
/// less than one message.
public struct OutputBuffer: ~Copyable {
    /// The number of bytes from which `isFull` is true.
    public let bytesMax: Int
    private var storage: UnsafeMutableRawBufferPointer
    private var head = 0
    private var end = 0

    public init(bytesMax: Int, initialCapacity: Int = 4096) {
        self.bytesMax = bytesMax
        storage = .allocate(byteCount: max(initialCapacity, 64), alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    /// The number of pending bytes.
    public var count: Int { end - head }
    public var isEmpty: Bool { head == end }
    public var isFull: Bool { count >= bytesMax }

    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        append(upTo: bytes.count) { space in
            space.copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Calls `body`, which writes at most `count` bytes at the end and returns the number of written bytes.
    public mutating func append(upTo count: Int, _ body: (UnsafeMutableRawBufferPointer) throws -> Int) rethrows {
        reserve(count)
        let written = try body(UnsafeMutableRawBufferPointer(rebasing: storage[end..<(end + count)]))
        precondition(written >= 0 && written <= count, "body returned a count outside the reserved space")
        end += written
    }

    /// Writes to `transport` as much as it accepts. Returns whether the buffer is empty.
    public mutating func write(to transport: ByteTransport) -> Bool {
        while head < end {
            let taken = transport.write(UnsafeRawBufferPointer(rebasing: storage[head..<end]))
            guard taken > 0 else { return false }
            head += taken
        }
        head = 0
        end = 0
        return true
    }

    public mutating func removeAll() {
        head = 0
        end = 0
    }

    private mutating func reserve(_ extra: Int) {
        guard end + extra > storage.count else { return }
        let count = count
        if count + extra <= storage.count, head >= storage.count / 2 {
            storage.baseAddress!.copyMemory(from: storage.baseAddress! + head, byteCount: count)
        } else {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(storage.count * 2, count + extra), alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[head..<end]))
            storage.deallocate()
            storage = larger
        }
        head = 0
        end = count
    }
}
