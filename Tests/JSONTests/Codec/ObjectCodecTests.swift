import JSON
import Testing

/// Objects whose members are declared once.
@Suite struct ObjectCodecTests {
    private struct Span: Sendable, Equatable {
        var low: Int?
        var high: Int?

        static let codec = ObjectCodec(
            "a span", from: Span(),
            [
                .optional("low", \.low, .int(0...9), "lower end"),
                .required("high", \.high, ValueCodec<Int>.int(0...9).nullable, "upper end"),
            ],
            check: { span, members throws(InputError) in
                guard let low = span.low, let high = span.high, low > high else { return }
                throw members.error("low", "is above high")
            })
    }

    private struct Plant: Sendable, Equatable {
        var name = ""
        var height = 0
        var isTree = false
        var share = 1.0
        var note: String?
        var span = Span(low: 1, high: 2)
        var fruits: [String] = []

        static let codec = ObjectCodec("a plant", from: Plant(), fields, check: check)

        static let fields: [ObjectField<Plant>] = [
            .identity("name", \.name, .text(1...9), "name"),
            .required("height", \.height, .int(1...99), "height in meters"),
            .member("tree", \.isTree, .bool, "whether it is a tree"),
            .member("share", \.share, .number(0...1), omitting: 1, "part of the garden"),
            .optional("note", \.note, .text(0...9), "anything"),
            .group(Span.codec, get: \.span, set: { span, _, plant throws(InputError) in plant.span = span }),
            .list(
                "fruits", "names of fruits",
                read: { json, plant throws(InputError) in
                    let fruit = try ValueCodec<String>.text(1...9).read(json, "a fruit")
                    guard !plant.fruits.contains(fruit) else { throw InputError("\(fruit) is there already") }
                    plant.fruits.append(fruit)
                }, elements: \.fruits, write: { $1.string($0) }),
        ]

        @Sendable static func check(_ plant: Plant, _ members: ObjectMembers) throws(InputError) {
            guard plant.isTree || plant.height < 50 else { throw members.error("only trees are so high") }
        }
    }

    private static let least = #"{"name":"a","height":1,"tree":false,"low":1,"high":2,"fruits":[]}"#

    private func read(_ text: String) throws -> Plant { try Plant.codec.read(try JSONDocument(text).root) }

    private func error(_ text: String, _ read: (JSONValue) throws -> Void) throws -> String? {
        let document = try JSONDocument(text)
        guard let error = #expect(throws: InputError.self, performing: { try read(document.root) }) else { return nil }
        let place = try #require(error.node.map { document.position(ofNode: $0) })
        return "\(place.column): \(error.message)"
    }

    @Test(arguments: [
        least, #"{"name":"b","height":99,"tree":true,"share":0.5,"note":"","high":null,"fruits":["x","y"]}"#,
    ])
    func writtenValuesAreReadBack(text: String) throws {
        let plant = try read(text)
        #expect(json { Plant.codec.write(plant, to: &$0) } == text)
        let value = try Plant.codec.value.read(try JSONDocument(text).root, "it")
        #expect(value == plant && json { Plant.codec.value.write(plant, to: &$0) } == text)
    }

    @Test func missingMembersHaveDefaults() throws {
        #expect(try read(#"{"height":3,"name":"a"}"#) == Plant(name: "a", height: 3))
        #expect(try read(#"{"height":3,"name":"a","high":4}"#).span == Span(low: nil, high: 4))
    }

    @Test(arguments: [
        ("[]", "1: a plant must be an object"),
        ("{}", "1: name is missing in a plant"),
        (#"{"name":"a"}"#, "1: height is missing in a plant"),
        (
            #"{"name":"a","hieght":1}"#,
            "13: unknown member 'hieght' in a plant; known: name, height, tree, share, note, low, high, fruits; "
                + "did you mean height?"
        ),
        (#"{"name":"a","height":100}"#, "22: height must be a whole number from 1 to 99"),
        (#"{"name":"a","height":1,"tree":0}"#, "31: tree must be true or false"),
        (#"{"name":"a","height":1,"share":2}"#, "32: share must be a number from 0.0 to 1.0"),
        (#"{"name":"a","height":1,"note":null}"#, "31: note must be a text of 0 to 9 bytes"),
        (#"{"name":"a","height":1,"low":1}"#, "1: high is missing in a plant"),
        (#"{"name":"a","height":1,"low":3,"high":2}"#, "30: low is above high"),
        (#"{"name":"a","height":1,"fruits":{}}"#, "33: fruits must be a list"),
        (
            #"{"name":"a","height":1,"fruits":["x",7]}"#,
            "38: a fruit must be a text of 1 to 9 bytes; write the value in quotes"
        ),
        (#"{"name":"a","height":1,"fruits":["x","x"]}"#, "38: x is there already"),
        (#"{"name":"a","height":50}"#, "1: only trees are so high"),
    ])
    func errorsNameTheMemberAndItsLimits(text: String, message: String) throws {
        #expect(try error(text) { _ = try Plant.codec.read($0) } == message)
    }

    @Test func aKnownObjectKeepsOmittedMembers() throws {
        let known = Plant(name: "a", height: 3, isTree: true, note: "old", fruits: ["x"])
        var plant = known
        try Plant.codec.read(try JSONDocument(#"{"note":"new","high":5,"fruits":["y"]}"#).root, into: &plant, .changes)
        #expect(
            plant
                == Plant(
                    name: "a", height: 3, isTree: true, note: "new", span: Span(low: nil, high: 5), fruits: ["x", "y"]))
        plant = known
        try Plant.codec.read(try JSONDocument(#"{"name":"a"}"#).root, into: &plant, .changes)
        #expect(plant == known)
    }

    @Test func anObjectThatAURLNamesNeedsNoIdentity() throws {
        var plant = Plant(name: "a")
        try Plant.codec.read(try JSONDocument(#"{"height":4}"#).root, into: &plant, .identified)
        #expect(plant == Plant(name: "a", height: 4))
        for reading in [ObjectReading.identified, .changes] {
            let message = try error(#"{"name":"b","height":4}"#) { try Plant.codec.read($0, into: &plant, reading) }
            #expect(message == "9: name must be the same as in the URL")
        }
        let missing = try error("{}") { try Plant.codec.read($0, into: &plant, .identified) }
        #expect(missing == "1: height is missing in a plant")
    }

    @Test func aRequiredGroupMustBePresent() throws {
        let codec = ObjectCodec(
            "a box", from: Span(),
            [
                .group(
                    Span.codec, isRequired: true, get: \.self, set: { span, _, box throws(InputError) in box = span })
            ])
        #expect(try error("{}") { _ = try codec.read($0) } == "1: high is missing in a box")
        var box = Span(low: 1, high: 2)
        try codec.read(try JSONDocument("{}").root, into: &box, .changes)
        #expect(box == Span(low: 1, high: 2))
    }

    @Test func anOptionalGroupIsNilWithoutItsMembers() throws {
        let codec = ObjectCodec("a box", from: Optional<Span>.none, [.optionalGroup(\.self, Span.codec)])
        #expect(try codec.read(try JSONDocument("{}").root) == nil)
        #expect(try codec.read(try JSONDocument(#"{"high":3}"#).root) == Span(low: nil, high: 3))
        #expect(json { codec.write(nil, to: &$0) } == "{}")
        #expect(json { codec.write(Span(low: 1, high: 2), to: &$0) } == #"{"low":1,"high":2}"#)
        #expect(codec.help.map(\.name) == ["low", "high"])
    }

    @Test func unknownMembersCanBeIgnored() throws {
        let codec = ObjectCodec("a span", from: 0, ignoresUnknown: true, [.member("low", \.self, .int(0...9))])
        #expect(try codec.read(try JSONDocument(#"{"hihg":1,"low":7}"#).root) == 7)
    }

    @Test func anotherTypeCanHoldTheValue() throws {
        let codec = Span.codec.converted(
            read: { span, members throws(InputError) in
                guard let low = span.low, let high = span.high else { throw members.error("low", "is needed here") }
                return low...high
            }, write: { Span(low: $0.lowerBound, high: $0.upperBound) })
        #expect(try codec.read(try JSONDocument(#"{"low":1,"high":3}"#).root, "it") == 1...3)
        #expect(json { codec.write(4...5, to: &$0) } == #"{"low":4,"high":5}"#)
        #expect(try error(#"{"high":3}"#) { _ = try codec.read($0, "it") } == "1: low is needed here")
        #expect(try error(#"{"low":3,"high":1}"#) { _ = try codec.read($0, "it") } == "8: low is above high")
        #expect(try error("7") { _ = try codec.read($0, "it") } == "1: a span must be an object")
    }

    @Test func membersAreAddedToAnOpenObject() {
        let text = json { json in
            json.beginObject()
            Span.codec.writeMembers(Span(low: nil, high: 1), to: &json)
            json.member("more", true)
            json.endObject()
        }
        #expect(text == #"{"high":1,"more":true}"#)
    }

    @Test func helpDescribesEachMember() {
        #expect(
            Plant.codec.help.map(\.name) == ["name", "height", "tree", "share", "note", "low", "high", "fruits"])
        let height = Plant.codec.help[1]
        #expect((height.form, height.meaning) == ("a whole number from 1 to 99", "height in meters"))
        #expect(Plant.codec.help[6].form == "a whole number from 0 to 9 or null")
        #expect(Plant.codec.help.allSatisfy { $0.words.isEmpty })
    }
}
