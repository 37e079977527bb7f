import EventLoop
import Testing

@testable import HTTP2

@Suite struct HeaderBlockScannerTests {
    /// Examples of RFC 7541, appendix C, and their representations.
    private static let examples: [(hex: String, expected: String)] = [
        ("400a637573746f6d2d6b65790d637573746f6d2d686561646572", "incremental"),
        ("040c2f73616d706c652f70617468", "without name"),
        ("100870617373776f726406736563726574", "never"),
        ("82", "indexed name"),
        (
            "828684410f7777772e6578616d706c652e636f6d",
            "indexed name, indexed name, indexed name, incremental name"
        ),
        (
            "828684418cf1e3c2e5f23a6ba0ab90f4ff",
            "indexed name, indexed name, indexed name, incremental name huffman"
        ),
        (
            "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
            "indexed name, indexed name, indexed name, indexed name, incremental namehuffman huffman"
        ),
    ]

    @Test(arguments: examples) func readsTheExamplesOfTheStandard(hex: String, expected: String) throws {
        #expect(read([try bytes(hex)]) == expected)
    }

    @Test(arguments: examples) func readsTheExamplesInParts(hex: String, expected: String) throws {
        let block = try bytes(hex)
        for cut in 0...block.count {
            #expect(read([Array(block[..<cut]), Array(block[cut...])]) == expected)
        }
        #expect(read(block.map { [$0] }) == expected)
    }

    @Test func tableSizeUpdatesAreNotFields() throws {
        #expect(read([try bytes("20")]) == "")
        #expect(read([try bytes("3fe11f82")]) == "indexed name")
        #expect(read([try bytes("203fe11f82")]) == "indexed name")
    }

    @Test func theStateIsResetForEachField() {
        #expect(read([[0x40, 0x81, 0x1F, 0x81, 0x1F, 0x82]]) == "incremental namehuffman huffman, indexed name")
    }

    @Test func emptyTextsAndLongIntegers() throws {
        #expect(
            read([try bytes("00000000")]) == "without",
            "an empty field and the start of another field were read wrongly")
        #expect(read([[0x0F, 0x80, 0x00, 0x00]]) == "without name", "an index of 15 in three bytes was read wrongly")
        #expect(read([[0xFF, 0x80, 0x80, 0x80, 0x80, 0x00]]) == "indexed name")
        let long = [UInt8](repeating: 0x61, count: 300)
        #expect(read([[0x00, 0x01, 0x61, 0x7F, 0xAD, 0x01] + long + [0x82]]) == "without, indexed name")
        #expect(read([[0x00, 0x01, 0x61, 0xFF, 0xAD, 0x01] + long + [0x82]]) == "without huffman, indexed name")
    }

    @Test func integersWithoutEndStopTheScan() {
        #expect(read([[0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 100) + [0x82]]) == "indexed name")
        #expect(read([[0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 10) + [0x00, 0x82]]) == "indexed name")
        #expect(
            read([[0x82, 0xFF, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x82]]) == "indexed name",
            "a long integer of zeros was accepted")
        #expect(read([[0x82, 0x00, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x82]]) == "indexed name")
        #expect(read([[0x82, 0x00, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x82]]) == "indexed name")
    }

    @Test func theResultForRandomBytesDoesNotDependOnTheirParts() {
        var random = SeededRandom(seed: 8)
        for _ in 0..<2000 {
            let block = (0..<random.below(80)).map { _ in
                // Small numbers keep most lengths within the block.
                UInt8(random.chance(percent: 70) ? random.below(16) : random.below(256))
            }
            var pieces: [[UInt8]] = []
            var rest = block[...]
            while !rest.isEmpty {
                let count = 1 + random.below(rest.count)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            let whole = read([block])
            #expect(read(pieces) == whole)
            #expect(read(block.map { [$0] }) == whole)
        }
    }

    private func read(_ pieces: [[UInt8]]) -> String {
        var scanner = HeaderBlockScanner()
        var texts: [String] = []
        for piece in pieces { piece.withUnsafeBytes { scanner.scan($0) { texts.append(representationText($0)) } } }
        return texts.joined(separator: ", ")
    }
}

func bytes(_ hex: String) throws -> [UInt8] {
    let digits = try hex.map { try #require($0.hexDigitValue) }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Returns the text of a representation, such as `incremental name huffman`.
func representationText(_ representation: HeaderRepresentation) -> String {
    let form =
        switch representation.form {
        case .indexed: "indexed"
        case .incremental: "incremental"
        case .withoutIndexing: "without"
        case .neverIndexed: "never"
        case nil: "unknown"
        }
    return form + (representation.isNameIndexed ? " name" : "") + (representation.isNameHuffman ? " namehuffman" : "")
        + (representation.isValueHuffman ? " huffman" : "")
}
