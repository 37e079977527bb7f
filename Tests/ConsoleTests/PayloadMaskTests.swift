import ControlProtocol
import JSON
import Testing

@testable import Console

/// The form of dead letters' samples for a role.
@Suite struct PayloadMaskTests {
    private static let token = JournalLines.token
    private static let short = "00fc13ad…+56"

    private func body(_ body: String, _ role: OperatorRole, path: String?) -> String? {
        PayloadMask(role: role, path: path).body(Array(body.utf8))
    }

    // The producer of such a request has used a wrong member, which is the path of the error.
    @Test(arguments: [OperatorRole.view, .operate, .admin])
    func `A device token is shortened at every path`(role: OperatorRole) {
        for (text, path, shown) in [
            (#"{"deviceToken":"TOKEN"}"#, "/deviceToken", #"{"deviceToken":"SHORT"}"#),
            (#"{"token":"<TOKEN>"}"#, "/token", #"{"token":"<SHORT>"}"#),
            (#"{"TOKEN":1}"#, "/TOKEN", #"{"SHORT":1}"#),
        ] {
            func filled(_ text: String) -> String {
                text.replacing("TOKEN", with: Self.token).replacing("SHORT", with: Self.short)
            }
            #expect(body(filled(text), role, path: filled(path)) == filled(shown))
        }
    }

    @Test(arguments: [
        (#"{"user":"bob"}"#, "/user", #"{"user":"…"}"#), (#"{"users":["bob"]}"#, "/users/0", #"{"users":["…"]}"#),
        (#"{"data":{"user":"bob"}}"#, "/data/user", #"{"data":{"user":"…"}}"#),
        (#"{"username":"bob"}"#, "/username", #"{"username":"bob"}"#),
    ])
    func `A viewer sees no user, even at the error`(text: String, path: String, shown: String) {
        #expect(body(text, .view, path: path) == shown)
        #expect(body(text, .operate, path: path) == text)
    }

    @Test func `A viewer sees the headers of workers without users`() {
        let mask = PayloadMask(role: .view, path: nil)
        for (name, value, shown) in [
            ("push-user", "bob", "…"), ("push-other-owners", "bob", "…"), ("customer", "bob", "…"),
            ("push-attempt", "1", "1"), ("push-reason", "not \(Self.token)", "not \(Self.short)"),
        ] {
            #expect(mask.header(.init(name, value)) == shown)
        }
        #expect(PayloadMask(role: .operate, path: nil).header(.init("push-user", "bob")) == "bob")
    }
}
