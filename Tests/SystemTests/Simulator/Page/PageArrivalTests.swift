import Glibc
import TestKit
import Testing

/// Tests of the page while requests arrive.
extension ToolTests.Page {
    @Test func `shows figures that add up`() async throws {
        let fixture = try await PageFixture()
        _ = try await fixture.simulator.request(
            "POST", "/v1/faults", #"{"match":{"device_prefix":"bb"},"action":"silence"}"#)
        #expect(try await fixture.push(#"{"aps":{"alert":"x"}}"#) == 200)
        #expect(try await fixture.push(#"{"aps":{"alert":"x"}}"#, to: "dead01") == 410)
        let payload = #"{"aps":{"alert":"y"}}"#
        let silent = [
            try await fixture.startPush(payload, to: "bb01"), try await fixture.startPush(payload, to: "bb02"),
        ]
        func figure(_ id: String) -> String { "Number(document.querySelector('#figure-\(id)').textContent)" }
        try await fixture.browser.wait(until: "\(figure("in-flight")) === 2")
        #expect(try await fixture.browser.holds("!document.querySelector('#abandoned').checkVisibility()"))
        silent[0].send(signal: SIGKILL)
        try await fixture.browser.wait(until: "\(figure("abandoned")) === 1")
        #expect(try await fixture.browser.holds("document.querySelector('#abandoned').checkVisibility()"))
        #expect(try await fixture.browser.number(figure("requests")) == 4)
        let parts = ["accepted", "refused", "abandoned", "in-flight"].map(figure)
        #expect(try await fixture.browser.holds("\(parts.joined(separator: " + ")) === \(figure("requests"))"))
        try await fixture.browser.resize(width: 360, height: 800)
        #expect(try await fixture.browser.holds("document.documentElement.scrollWidth <= innerWidth"))
        silent[1].send(signal: SIGKILL)
        try await fixture.end()
    }

    /// Pushes so rapidly that an animation would still run when the next request arrives.
    @Test func `draws rapid requests without animation`() async throws {
        let fixture = try await PageFixture()
        let payload = #"{"aps":{"alert":"Hello"}}"#
        try await fixture.push(payload)
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
        #expect(try await fixture.browser.number("document.querySelectorAll('.arriving').length") == 2)
        for _ in 0..<8 { try await fixture.push(payload) }
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 9")
        #expect(try await fixture.browser.holds("document.querySelectorAll('#rows .row:not(.arriving)').length > 0"))
        try await fixture.end()
    }
}
