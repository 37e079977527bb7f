import Testing
import Text

@Suite struct SuggestionTests {
    @Test(arguments: [
        ("devise", "device"), ("deviceToken", "device-token"), ("devcie", "device"), ("DEVICE", "device"),
    ])
    func findsTheNearestWord(_ name: String, _ expected: String) {
        #expect(Suggestion.nearest(to: name, among: ["topic", "device", "device-token"]) == expected)
    }

    @Test func findsNoWordThatIsTooFar() {
        #expect(Suggestion.nearest(to: "queue", among: ["topic", "device"]) == nil)
        #expect(Suggestion.nearest(to: String(repeating: "a", count: 65), among: ["a"]) == nil)
    }

    @Test func expandsOnlyUnambiguousAbbreviations() {
        #expect(Suggestion.meant(by: "prod", among: ["production", "sandbox"]) == "production")
        #expect(Suggestion.meant(by: "prod", among: ["production", "producer"]) == nil)
    }

    @Test func hintIsAClauseOrEmpty() {
        #expect(Suggestion.hint(for: "devise", among: ["device"]) == "; did you mean device?")
        #expect(Suggestion.hint(for: "queue", among: ["device"]) == "")
    }
}
