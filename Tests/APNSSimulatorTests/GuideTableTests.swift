import JSON
import TestKit
import Testing

@testable import APNSSimulator

/// Tests of the guide's tables of JSON members, which must match the codecs.
@Suite struct GuideTableTests {
    private let lines: [String]

    init() throws {
        let guide = try Files.bytes(of: Products.file("Sources/Documentation/Simulator/Guide.md"))
        lines = String(decoding: guide, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0) }
    }

    /// Returns the cells of a table's rows below a heading, without links.
    private func rows(_ heading: String, _ header: String) -> [[String]] {
        lines.drop { $0 != heading }.drop { $0 != header }.dropFirst(2).prefix { $0.hasPrefix("|") }.map { line in
            let text = line.replacing(#/ \(\[[^\]]*\]\([^)]*\)\)/#, with: "")
                .replacing(#/\[([^\]]+)\]\([^)]*\)/#) { $0.output.1 }
            return text.dropFirst(2).dropLast(2).split(separator: " | ").map { String($0) }
        }
    }

    private func rows(_ help: [MemberHelp]) -> [[String]] { help.map { ["`\($0.name)`", $0.meaning] } }

    @Test func faults() {
        #expect(rows("## Make a fault", "| Member | Meaning |") == rows(ReportedFault.codec.help))
        #expect(rows("## Make a fault", "| Member of `match` | Meaning |") == rows(FaultMatch.codec.help))
    }

    @Test func actions() {
        let actions = rows("## Make a fault", "| `action` | Effect |").map { $0[0] }
        let words = FaultAction.codec.value.words
        #expect(actions.count == words.count)
        for (word, action) in zip(words, actions) {
            #expect(action == "`\"\(word)\"`" || action.hasPrefix("`{\"\(word)\": "))
        }
        let details = [
            "latency": LatencyMembers.codec.help, "answer": AnswerMembers.codec.help,
            "settings": FaultSettings.codec.help, "goaway": FaultGoAway.codec.help,
        ]
        for (word, help) in details {
            #expect(rows("## Make a fault", "| Member of `\(word)` | Meaning |") == rows(help))
        }
    }

    @Test func states() {
        let codec = StateCodec.writer
        let elements = [
            "teams": codec.team.help, "teams[].apps": codec.app.help, "teams[].keys": codec.key.help,
            "teams[].certificates": codec.certificate.help, "devices": codec.device.help,
            "device_rules": codec.deviceRule.help, "channels": codec.channel.help, "faults": [],
        ]
        func rows(_ help: [MemberHelp], _ prefix: String) -> [[String]] {
            help.flatMap { member in
                let path = prefix + member.name
                guard let element = elements[path] else { return [["`\(path)`", member.meaning]] }
                return [["`\(path)[]`", member.meaning]] + rows(element, "\(path)[].")
            }
        }
        #expect(self.rows("## State file", "| Member | Meaning |") == rows(codec.document.help, ""))
    }

    // The table of switches includes defaults and other values.
    @Test func switches() throws {
        var json = JSONWriter()
        RuleOptions.codec.write(RuleOptions(), to: &json)
        let defaults = try JSONDocument(json.bytes).root
        let expected = try RuleOptions.codec.help.map { member in
            let value = try #require(defaults[key: member.name])
            let text = value.string.map { "`\($0)`" } ?? String(decoding: value.sourceBytes, as: UTF8.self)
            return ["`\(member.name)`", text, Self.others(than: text, member), member.meaning]
        }
        #expect(rows("## Switches", "| Switch | Default | Other values | Effect |") == expected)
    }

    private static func others(than value: String, _ member: MemberHelp) -> String {
        guard member.words.isEmpty else {
            return member.words.map { "`\($0)`" }.filter { $0 != value }.joined(separator: ", ")
        }
        if member.form == "true or false" { return value == "true" ? "false" : "true" }
        let range = member.form.replacing("a whole number from ", with: "").replacing(/[0-9]{5,}/) { number in
            let digits = number.output
            let groups = stride(from: digits.count, to: 0, by: -3).map { digits.prefix($0).suffix(3) }
            return groups.reversed().joined(separator: ",")
        }
        return range.replacing(" or null", with: value == "null" ? "" : ", null")
    }
}
