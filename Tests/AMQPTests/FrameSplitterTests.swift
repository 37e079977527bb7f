import AMQP
import EventLoop
import Testing

@Suite struct FrameSplitterTests {
    static func frame(_ type: UInt8, _ channel: UInt16, _ payload: [UInt8], end: UInt8 = 0xCE) -> [UInt8] {
        let size = UInt32(payload.count)
        return [type, UInt8(channel >> 8), UInt8(channel & 255)]
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + payload + [end]
    }

    /// Returns all frames in `pieces` as "type channel payload".
    private static func split(_ pieces: [[UInt8]], frameBytesMax: Int = 4096) throws -> [String] {
        var splitter = FrameSplitter(frameBytesMax: frameBytesMax)
        var frames: [String] = []
        for piece in pieces {
            try piece.withUnsafeBytes { bytes in
                var rest = bytes
                while let frame = try splitter.next(&rest) {
                    frames.append("\(frame.kind.rawValue) \(frame.channel) \([UInt8](frame.payload))")
                }
                #expect(rest.isEmpty)
            }
        }
        return frames
    }

    private static let stream =
        frame(1, 0, [1, 2, 3]) + frame(8, 0, []) + frame(3, 1, Array(0..<200)) + frame(2, 65535, [9])
    private static let expected = ["1 0 [1, 2, 3]", "8 0 []", "3 1 \(Array(UInt8(0)..<200))", "2 65535 [9]"]

    @Test func completeFramesAreFound() throws {
        #expect(try Self.split([Self.stream]) == Self.expected)
    }

    @Test func framesSplitAtAnyByteAreTheSame() throws {
        for cut in 0...Self.stream.count {
            #expect(try Self.split([Array(Self.stream[..<cut]), Array(Self.stream[cut...])]) == Self.expected)
        }
        #expect(try Self.split(Self.stream.map { [$0] }) == Self.expected)
    }

    @Test func anOverlongFrameIsRefusedBeforeItsPayloadArrives() {
        #expect(throws: AMQPError.self) { try Self.split([[1, 0, 0, 0, 0, 16, 0]]) }
        #expect(throws: AMQPError.self) { try Self.split([[1, 0, 0, 255, 255, 255, 255]]) }
        #expect(throws: AMQPError.self) { try Self.split([[1, 0, 0], [127, 255, 255, 255]]) }
        #expect(throws: Never.self) { try Self.split([Self.frame(1, 0, Array(repeating: 0, count: 4088))]) }
    }

    @Test func wrongTypeOrEndIsRefused() {
        #expect(throws: AMQPError.self) { try Self.split([Self.frame(4, 0, [])]) }
        #expect(throws: AMQPError.self) { try Self.split([Self.frame(1, 0, [1], end: 0xCD)]) }
        // A broker that speaks another protocol version answers with the header of its version.
        let error = #expect(throws: AMQPError.self) { try Self.split([Array("AMQP".utf8) + [0, 1, 0, 0]]) }
        #expect(error?.isRetriable == false, "another protocol version counted as retriable")
    }
}
