import JSON
import Testing

/// Values that are a word, or a word with details.
@Suite struct VariantCodecTests {
    private enum Move: Sendable, Equatable {
        case stop
        case go(Int)
        case turn(String?)

        var word: String {
            switch self {
            case .stop: "stop"
            case .go: "go"
            case .turn: "turn"
            }
        }

        static let codec = VariantCodec<Move>(
            [
                .word("stop", .stop),
                .details("go", .int(1...9), make: { .go($0) }) { if case .go(let steps) = $0 { steps } else { nil } },
                .details("turn", .word(of: ["left", "right"]), alone: .turn(nil), make: { .turn($0) }) {
                    if case .turn(let side) = $0 { side } else { nil }
                },
            ], word: \.word
        ).value
    }

    @Test(arguments: [#""stop""#, #"{"go":3}"#, #""turn""#, #"{"turn":"left"}"#])
    func writtenValuesAreReadBack(text: String) throws {
        let move = try Move.codec.read(try JSONDocument(text).root, "move")
        #expect(json { Move.codec.write(move, to: &$0) } == text)
    }

    @Test func nullIsNoDetail() throws {
        #expect(try Move.codec.read(try JSONDocument(#"{"stop":null}"#).root, "move") == .stop)
        #expect(try Move.codec.read(try JSONDocument(#"{"turn":null}"#).root, "move") == .turn(nil))
    }

    @Test(arguments: [
        ("3", "1: move must be a word, or an object with that word as its only member"),
        ("{}", "1: move must be a word, or an object with that word as its only member"),
        (#"{"stop":null,"turn":null}"#, "1: move must be a word, or an object with that word as its only member"),
        (#""stpo""#, "1: unknown move 'stpo'; known: stop, go, turn; did you mean stop?"),
        (#"{"jump":1}"#, "1: unknown move 'jump'; known: stop, go, turn"),
        (#"{"stop":1}"#, "9: stop must have no details"),
        (#""go""#, "1: go must have details; write an object"),
        (#"{"go":0}"#, "7: go must be a whole number from 1 to 9"),
        (#"{"turn":"up"}"#, "9: turn must be left or right"),
    ])
    func errorsNameTheWords(text: String, message: String) throws {
        let document = try JSONDocument(text)
        let error = try #require(throws: InputError.self) { try Move.codec.read(document.root, "move") }
        #expect("\(document.position(ofNode: error.node ?? -1).column): \(error.message)" == message)
    }
}
