import TestKit
import Testing

/// The connections.
extension ToolTests.Page {
    @Test func `shows each connection with its streams`() async throws {
        let fixture = try await PageFixture("--delay-ms", "600000")
        let client = try await fixture.startPush(#"{"aps":{"alert":"Hello"}}"#)
        let text = "document.querySelector('#connection-list').innerText"
        try await fixture.browser.wait(until: "\(text).includes('1 of 1 stream')")
        let words = try await fixture.browser.text(text)
        for word in ["Connection 1", "production, push", "1 request"] {
            #expect(words.contains(word), "\(word) in \(words)")
        }
        #expect(try await fixture.browser.text("document.querySelector('#figure-in-flight').textContent") == "1")
        try await client.terminate()
        try await fixture.browser.wait(until: "!document.querySelector('#connections-nothing').hidden")
        try await fixture.end()
    }

    @Test func `does things to connections at once`() async throws {
        let fixture = try await PageFixture("--delay-ms", "600000")
        try await fixture.tab(to: "[data-action='goaway']")
        try await fixture.browser.press(.enter)
        let outcome = "document.querySelector('#action-outcome').textContent"
        try await fixture.browser.wait(until: "\(outcome) === 'No client is connected.'")

        let client = try await fixture.startPush(#"{"aps":{"alert":"Hello"}}"#)
        try await fixture.browser.wait(until: "document.querySelector('#connection-list .grave')")
        try await fixture.browser.press(.enter)
        try await fixture.browser.wait(until: "\(outcome) === 'Applied to 1 connection.'")
        try await fixture.tab(to: "#connection-list .grave")
        try await fixture.browser.press(.enter)
        try await fixture.browser.wait(until: "!document.querySelector('#connection-list li')")
        try await fixture.browser.wait(
            until: "document.querySelector('#connection-outcome').textContent === 'Reset connection 1.'")
        _ = try await client.exit()
        try await fixture.end()
    }
}
