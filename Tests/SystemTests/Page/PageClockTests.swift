import TestKit
import Testing

/// The clock, and starting over.
extension ToolTests.Page {
    @Test func `sets the clock, and starts over`() async throws {
        let stage = try await PageStage()
        let payload = #"{"aps":{"alert":"Hello"}}"#
        #expect(try await stage.push(payload) == 200)
        try await stage.browser.wait(until: "document.querySelector('#rows .row')")
        try await stage.tab(to: "[data-offset='3900']")
        try await stage.browser.press(.enter)
        try await stage.browser.wait(
            until: "document.querySelector('#clock-reading').textContent.includes('1 h 5 min ahead')")
        // The token was made by this machine's clock.
        #expect(try await stage.push(payload) == 403)
        try await stage.tab(to: "#reset")
        try await stage.browser.press(.enter)
        try await stage.browser.wait(
            until: "document.querySelector('#clock-reading').textContent.includes('right')")
        try await stage.browser.wait(until: "!document.querySelector('#rows .row')")
        #expect(try await stage.push(payload) == 200)
        try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
        try await stage.browser.wait(until: "document.querySelector('#figure-requests').textContent === '1'")
        try await stage.browser.run("document.querySelector('#rows .opener').click()")
        #expect(
            try await stage.browser.text("document.querySelector('#detail-heading').textContent") == "Request 1")
        #expect(try await stage.browser.holds("document.querySelector('#older').hidden"))
        try await stage.end()
    }
}
