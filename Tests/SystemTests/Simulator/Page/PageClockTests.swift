import TestKit
import Testing

/// Tests of the clock and the reset.
extension ToolTests.Page {
    @Test func `sets the clock, and resets the simulator`() async throws {
        let fixture = try await PageFixture()
        let payload = #"{"aps":{"alert":"Hello"}}"#
        #expect(try await fixture.push(payload) == 200)
        try await fixture.browser.wait(until: "document.querySelector('#rows .row')")
        try await fixture.tab(to: "[data-offset='3900']")
        try await fixture.browser.press(.enter)
        try await fixture.browser.wait(
            until: "document.querySelector('#clock-reading').textContent.includes('1 h 5 min ahead')")
        // The provider token has the time of this machine's clock, so the simulator considers it expired.
        #expect(try await fixture.push(payload) == 403)
        try await fixture.tab(to: "#reset")
        try await fixture.browser.press(.enter)
        try await fixture.browser.wait(
            until: "document.querySelector('#clock-reading').textContent.includes('correct')")
        try await fixture.browser.wait(until: "!document.querySelector('#rows .row')")
        #expect(try await fixture.push(payload) == 200)
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
        try await fixture.browser.wait(until: "document.querySelector('#figure-requests').textContent === '1'")
        try await fixture.browser.run("document.querySelector('#rows .opener').click()")
        #expect(
            try await fixture.browser.text("document.querySelector('#detail-heading').textContent") == "Request 1")
        #expect(try await fixture.browser.holds("document.querySelector('#older').hidden"))
        try await fixture.end()
    }
}
