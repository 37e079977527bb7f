import EventLoop

/// The HEADERS frame that opens a stream (RFC 9113, 6.2).
enum HeadersFrame {
    /// Maximum frame payload that every peer accepts (RFC 9113, 6.5.2).
    static let blockBytesMax = 16_384

    /// Size of length, type, flags and stream ID (RFC 9113, 4.1).
    private static let headerBytes = 9
    private static let typePlace = 3
    private static let streamPlace = 5
    private static let flagsPlace = 4
    private static let headersType: UInt8 = 1
    /// The flags PADDED and PRIORITY, which add fields to the payload.
    private static let flagsOfMore: UInt8 = 0x28

    /// Returns the stream ID of a HEADERS frame; nil for other frames, and for the client's preface, whose fourth byte
    /// is a space.
    static func streamID(of frame: UnsafeRawBufferPointer) -> Int32? {
        guard frame.count >= headerBytes, frame[typePlace] == headersType else { return nil }
        return Int32(bigEndian: frame.loadUnaligned(fromByteOffset: streamPlace, as: Int32.self))
    }

    /// Appends `frame`, with its header block replaced by at most `bytesMax` bytes that `write` writes.
    static func append(
        _ frame: UnsafeRawBufferPointer, to output: inout OutputBuffer, bytesMax: Int,
        block write: (UnsafeMutableRawBufferPointer) -> Int
    ) {
        assert(frame[flagsPlace] & flagsOfMore == 0)
        output.append(upTo: headerBytes + bytesMax) { space in
            let count = write(UnsafeMutableRawBufferPointer(rebasing: space[headerBytes...]))
            // Write the length, which has three bytes. The type overwrites the fourth byte.
            space.storeBytes(of: UInt32(truncatingIfNeeded: count << 8).bigEndian, as: UInt32.self)
            for place in typePlace..<headerBytes { space[place] = frame[place] }
            return headerBytes + count
        }
    }
}
