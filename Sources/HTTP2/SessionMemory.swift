internal import CNGHTTP2
import EventLoop
import Glibc

/// The allocator of one nghttp2 session. nghttp2 allocates about six small blocks per request and frees them when the
/// request ends. Free lists by size are faster than the heap. With a thousand open requests, the heap spends half a
/// microsecond per request on splitting and merging blocks.
///
/// The allocator is a class, since nghttp2 stores a pointer to it. It is used only on the session's loop and must
/// outlive the session.
final class SessionMemory {
    /// Unit to which sizes are rounded up.
    private static let granuleBytes = 64
    /// Size of the header of each block, which contains the number of its list. The size preserves the heap's
    /// alignment.
    private static let headerBytes = 16

    /// Free blocks by size, up to 1024 bytes. Larger blocks return to the heap. After its header, a free block contains
    /// the address of the next free block.
    private var lists = InlineArray<16, UnsafeMutableRawPointer?>(repeating: nil)

    deinit {
        for list in lists.indices {
            var piece = lists[list]
            while let this = piece {
                piece = this.load(as: UnsafeMutableRawPointer?.self)
                Glibc.free(this - Self.headerBytes)
            }
        }
    }

    /// The functions for nghttp2, valid for the lifetime of this object.
    var functions: nghttp2_mem {
        nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
            malloc: { size, memory in SessionMemory.with(memory) { $0.allocate(size) } },
            free: { piece, memory in SessionMemory.with(memory) { $0.release(piece) } },
            calloc: { count, size, memory in
                let (bytes, overflow) = count.multipliedReportingOverflow(by: size)
                guard !overflow, let piece = SessionMemory.with(memory, { $0.allocate(bytes) }) else { return nil }
                return memset(piece, 0, bytes)
            },
            realloc: { piece, size, memory in SessionMemory.with(memory) { $0.resize(piece, size) } })
    }

    @inline(__always)
    private static func with<Result>(_ memory: UnsafeMutableRawPointer?, _ body: (SessionMemory) -> Result) -> Result {
        Unmanaged<SessionMemory>.fromOpaque(memory!)._withUnsafeGuaranteedRef(body)
    }

    func allocate(_ bytes: Int) -> UnsafeMutableRawPointer? {
        guard bytes >= 0, bytes <= Int.max - 2 * Self.granuleBytes else { return nil }
        let list = (max(bytes, 1) - 1) / Self.granuleBytes
        if list < lists.count, let piece = lists[list] {
            // The next allocation of this size reads the link in the next block.
            let next = piece.load(as: UnsafeMutableRawPointer?.self)
            if let next { Prefetch.memory(at: next) }
            lists[list] = next
            return piece
        }
        guard let block = Glibc.malloc(Self.headerBytes + (list + 1) * Self.granuleBytes) else { return nil }
        block.storeBytes(of: list, as: Int.self)
        return block + Self.headerBytes
    }

    func release(_ piece: UnsafeMutableRawPointer?) {
        guard let piece else { return }
        let block = piece - Self.headerBytes
        let list = block.load(as: Int.self)
        guard list < lists.count else { return Glibc.free(block) }
        piece.storeBytes(of: lists[list], as: UnsafeMutableRawPointer?.self)
        lists[list] = piece
    }

    private func resize(_ piece: UnsafeMutableRawPointer?, _ bytes: Int) -> UnsafeMutableRawPointer? {
        guard let piece else { return allocate(bytes) }
        let capacity = ((piece - Self.headerBytes).load(as: Int.self) + 1) * Self.granuleBytes
        if bytes <= capacity { return piece }
        guard let larger = allocate(bytes) else { return nil }
        larger.copyMemory(from: piece, byteCount: capacity)
        release(piece)
        return larger
    }
}
