import Testing

@testable import Delivery

@Suite struct RoutingKeyTests {
    @Test func aResultHasItsOutcomeAndApp() {
        #expect(RoutingKey.result(.accepted, app: "com.example.app") == "result.accepted.com.example.app")
        #expect(RoutingKey.result(.accepted, app: "Zoo.app-19_x") == "result.accepted.Zoo.app-19_x")
        #expect(RoutingKey.result(.invalid, app: nil) == "result.invalid.-")
    }

    @Test(arguments: [
        "", "com.example app", "com.example.#", "com.exämple", "a\u{0}b", "a/b", "a:b", "a@b", "a[b", "a^b", "a`b",
        "a{b",
    ])
    func anAppThatBindingsCannotMatchIsOmitted(app: String) {
        #expect(RoutingKey.result(.invalid, app: app) == "result.invalid.-")
    }

    @Test func aLongAppIsTruncated() {
        let key = RoutingKey.dead(DeadLetterReason("schema", "required", ""), app: String(repeating: "a", count: 5_000))
        #expect(key.utf8.count == 255)
        #expect(key.hasPrefix("dead.schema.required.aaa"))
    }

    @Test func aForeignCodeIsOneWord() {
        let reason = DeadLetterReason("apns", "Foo.Bar *#\u{7}é", "")
        #expect(RoutingKey.dead(reason, app: "a") == "dead.apns.Foo-Bar------.a")
    }
}
