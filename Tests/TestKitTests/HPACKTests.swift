import Testing

@testable import TestKit

/// The HPACK code of the test kit, with the examples of RFC 7541, appendix C.
@Suite struct HPACKTests {
    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8.filter { $0 != UInt8(ascii: " ") })
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
        }
    }

    @Test func integers() {
        #expect(HPACKWriter.integer(10, prefixBits: 5) == [0b01010])
        #expect(HPACKWriter.integer(1337, prefixBits: 5) == [0b11111, 0b1001_1010, 0b0000_1010])
        #expect(HPACKWriter.integer(42, prefixBits: 8) == [42])
    }

    @Test func literals() {
        #expect(
            HPACKWriter.literal("custom-key", "custom-header", as: .incremental)
                == bytes("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"))
        #expect(HPACKWriter.literal(nameOf: 4, "/sample/path") == bytes("040c 2f73 616d 706c 652f 7061 7468"))
        #expect(
            HPACKWriter.literal("password", "secret", as: .neverIndexed)
                == bytes("1008 7061 7373 776f 7264 0673 6563 7265 74"))
        #expect(HPACKWriter.indexed(2) == [0x82])
        #expect(
            HPACKWriter.literal(nameOf: 1, "www.example.com", as: .incremental, huffman: true)
                == bytes("418c f1e3 c2e5 f23a 6ba0 ab90 f4ff"))
    }

    @Test func everyByteRoundTripsThroughHuffman() {
        let all = Array(UInt8.min...UInt8.max)
        #expect(HuffmanCode.decode(HuffmanCode.encode(all)) == all)
        for byte in all { #expect(HuffmanCode.decode(HuffmanCode.encode([byte])) == [byte]) }
        #expect(HuffmanCode.decode([0xFF, 0xFF, 0xFF, 0xFF]) == nil)
        #expect(HuffmanCode.decode([0x00]) == nil, "zeros are not valid padding")
    }

    /// The responses of section C.6 have Huffman code and a dynamic table of 256 bytes, which evicts entries.
    @Test func responsesWithEviction() throws {
        var reader = HPACKReader()
        _ = try reader.read(HPACKWriter.tableSizeUpdate(256))
        let first = try reader.read(
            bytes(
                "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad"
                    + "1718 63c7 8f0b 97c8 e9ae 82ae 43d3"))
        #expect(
            first.map { "\($0.name): \($0.value)" } == [
                ":status: 302", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT",
                "location: https://www.example.com",
            ])
        let second = try reader.read(bytes("4883 640e ffc1 c0bf"))
        #expect(
            second.map { "\($0.name): \($0.value)" } == [
                ":status: 307", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT",
                "location: https://www.example.com",
            ])
        let third = try reader.read(
            bytes(
                "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2"
                    + "e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50"
                    + "07"))
        #expect(
            third.map { "\($0.name): \($0.value)" } == [
                ":status: 200", "cache-control: private", "date: Mon, 21 Oct 2013 20:13:22 GMT",
                "location: https://www.example.com", "content-encoding: gzip",
                "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
            ])
        #expect(throws: HPACKReader.Malformed.self) { try reader.read([0x80 | 100]) }
    }

    @Test func framesHaveWireAndTextForms() {
        #expect(HTTP2Frame.ping(1).bytes == [0, 0, 8, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect("\(HTTP2Frame.settings((3, 100), (9, 1)))" == "SETTINGS max_concurrent_streams=100 setting_9=1")
        #expect("\(HTTP2Frame.resetStream(3, code: 7))" == "RST_STREAM 3 REFUSED_STREAM")
        #expect("\(HTTP2Frame.goAway(lastStream: 5, debug: "text"))" == "GOAWAY 5 NO_ERROR text")
        #expect("\(HTTP2Frame(type: 3, stream: 1, payload: [1]))" == "RST_STREAM 1 PROTOCOL_ERROR")
        #expect(HTTP2Frame(type: 4, payload: [1, 2, 3]).settings.isEmpty)
    }
}
