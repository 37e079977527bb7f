import TestKit
import Testing

/// Tests of the guide.
extension ToolTests.Page {
    @Test func `shows how to push until the first request`() async throws {
        let fixture = try await PageFixture("--listen-channels", "127.0.0.1:0")
        let guide = "document.querySelector('#guide')"
        try await fixture.browser.wait(until: "\(guide).querySelector('pre')")
        let guideText = try await fixture.browser.text("\(guide).textContent")
        for word in [
            "localhost:\(fixture.simulator.port)", "DEMOKEY001", "DEMOTEAM01", "ca.pem", "Channel management",
        ] {
            #expect(guideText.contains(word), "\(word)")
        }
        #expect(!guideText.contains("Pushes and broadcasts, sandbox"), "the guide lists a missing endpoint")
        try await fixture.browser.run(
            """
            navigator.clipboard.writeText = async (text) => { window.copied = text; },
            document.querySelector("#guide button").click()
            """)
        try await fixture.browser.wait(until: "window.copied")
        let command = try await fixture.browser.text("window.copied")
        #expect(try await ChildProcess.run(["sh", "-c", command]).output == [])
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
        #expect(try await fixture.browser.holds("!\(guide).checkVisibility()"))
        #expect(try await fixture.browser.text("document.querySelector('.pill').textContent") == "200")
        // The command of the recorded request also uses the certificate.
        try await fixture.browser.run(
            """
            window.copied = "",
            document.querySelector("#rows .opener").click(),
            [...document.querySelectorAll(".identity button")].at(-1).click()
            """)
        try await fixture.browser.wait(until: "window.copied")
        let again = try await fixture.browser.text("window.copied")
        #expect(try await ChildProcess.run(["sh", "-c", again]).output == [])
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 2")
        #expect(try await fixture.browser.text("document.querySelector('.pill').textContent") == "200")
        try await fixture.end()
    }

    @Test func `shows the guide first on a phone until a push is delivered`() async throws {
        let fixture = try await PageFixture()
        try await fixture.browser.resize(width: 390, height: 844, isPhone: true)
        try await fixture.open()
        let isAt = { (view: String) in "document.body.dataset.view === '\(view)'" }
        try await fixture.browser.wait(until: isAt("requests"))
        try await fixture.browser.wait(until: "document.querySelector('#guide pre')")
        for part in [".facts", "button"] {
            let isOnFirstScreen =
                "document.querySelector('#guide \(part)').getBoundingClientRect().bottom <= innerHeight"
            #expect(try await fixture.browser.holds(isOnFirstScreen), "\(part)")
        }
        // The request list also shows why a push was refused.
        #expect(try await fixture.push(#"{"aps":{"alert":"Hello"}}"#, to: "dead0123") == 410)
        try await fixture.browser.wait(until: "document.querySelector('#rows .row')")
        #expect(try await fixture.browser.holds(isAt("requests")))
        try await fixture.push(#"{"aps":{"alert":"Hello"}}"#)
        try await fixture.browser.wait(until: isAt("lock"))
        #expect(try await fixture.browser.holds("document.querySelector('#stacks .card').checkVisibility()"))

        // The page keeps a view that the user has chosen.
        try await fixture.open("#faults")
        try await fixture.simulator.request("POST", "/v1/reset")
        try await fixture.browser.wait(until: "!document.querySelector('#rows .row')")
        #expect(try await fixture.browser.holds(isAt("faults")))
        try await fixture.open()
        try await fixture.browser.wait(until: isAt("requests"))
        try await fixture.end()
    }
}
