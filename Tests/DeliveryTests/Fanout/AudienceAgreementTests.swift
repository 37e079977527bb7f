import EventLoop
import JSON
import JSONSchema
import TestKit
import Testing

@testable import Delivery

/// The agreement of the reader of requests with `schemas/notification.schema.json`.
@Suite struct AudienceAgreementTests {
    private typealias Member = (key: String, value: String)

    private let reader = AudienceReader()
    private let validator = SchemaValidator(ContractSchemas.notification)

    private static func examples(_ verdict: String) throws -> [[Member]] {
        let folder = Products.file("schemas/examples/\(verdict)")
        return try Files.names(in: folder).filter { $0.hasSuffix(".json") && !$0.hasSuffix(".expected.json") }
            .map { try JSONDocument(try Files.bytes(of: "\(folder)/\($0)")).root }.filter { $0.kind == .object }
            .map { root in
                root.members.map { ($0.key.string ?? "", String(decoding: $0.value.sourceBytes, as: UTF8.self)) }
            }
    }

    private static func body(of request: [Member]) -> String {
        var json = JSONWriter()
        json.beginObject()
        for member in request {
            json.key(member.key)
            json.raw(Array(member.value.utf8))
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Returns the difference between the verdicts of reader and schema; nil if they agree.
    private func difference(_ body: String) throws -> String? {
        let root = try JSONDocument(Array(body.utf8)).root
        let expected = validator.firstViolation(in: root)
        let hasUsers = root["user"] != nil || root["users"] != nil
        switch (reader.read(body), expected) {
        case (.success(.audience(let audience)), nil):
            return hasUsers && !audience.users.isEmpty ? nil : "the reader sees users"
        case (.success(.push), nil): return hasUsers ? "the reader sees no users" : nil
        case (.failure(let violation), nil):
            return violation.violationClass == .schema ? "only the reader refuses it: \(violation.sentence)" : nil
        case (.failure(let violation), let expected?):
            return violation.violationClass == .schema && violation.code == expected.keyword
                ? nil : "the reader reports \(violation.violationClass) \(violation.code)"
        case (.success, _?): return "only the schema refuses it: \(expected?.description ?? "")"
        }
    }

    @Test func `Both agree on all examples`() throws {
        for request in try Self.examples("valid") + Self.examples("invalid") {
            #expect(try difference(Self.body(of: request)) == nil)
        }
    }

    @Test func `Both agree on mutations of the examples`() throws {
        let requests = try Self.examples("valid") + Self.examples("invalid")
        let added =
            try Self.examples("valid").joined().filter { $0.key != "app" } + [
                ("user", #""ann""#), ("user", #""\u0000""#), ("users", #"["ann","bob"]"#), ("users", "[]"),
                ("scope", #""s""#), ("scope", #""""#),
            ]
        let toUsers = requests.filter { $0.contains { $0.key == "user" || $0.key == "users" } }
        var random = SeededRandom(seed: 48)
        var audienceCount = 0
        for number in 0..<2000 {
            let chosen = random.chance(percent: 50) ? toUsers : requests
            var request = chosen[random.below(chosen.count)]
            for _ in 0...random.below(3) {
                let member = added[random.below(added.count)]
                let isReplaced = random.chance(percent: 70)
                if isReplaced { request.removeAll { $0.key == member.key } }
                if isReplaced && random.chance(percent: 80) {
                    request.append(member)
                } else if !request.isEmpty {
                    request.remove(at: random.below(request.count))
                }
            }
            let body = Self.body(of: request)
            if case .success(.audience) = reader.read(body) { audienceCount += 1 }
            guard let difference = try difference(body) else { continue }
            Issue.record("mutation \(number), \(difference): \(body)")
            return
        }
        #expect(audienceCount > 40)
    }
}
