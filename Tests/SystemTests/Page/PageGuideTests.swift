import TestKit
import Testing

/// The guide.
extension ToolTests.Page {
    @Test func `shows how to push until somebody has`() async throws {
        let stage = try await PageStage("--listen-channels", "127.0.0.1:0")
        let guide = "document.querySelector('#guide')"
        try await stage.browser.wait(until: "\(guide).querySelector('pre')")
        let told = try await stage.browser.text("\(guide).textContent")
        for word in [
            "localhost:\(stage.simulator.port)", "DEMOKEY001", "DEMOTEAM01", "ca.pem", "Channel management",
        ] {
            #expect(told.contains(word), "\(word)")
        }
        #expect(!told.contains("Pushes and broadcasts, sandbox"), "it does not listen there")
        try await stage.browser.run(
            """
            navigator.clipboard.writeText = async (text) => { window.copied = text; },
            document.querySelector("#guide button").click()
            """)
        try await stage.browser.wait(until: "window.copied")
        let command = try await stage.browser.text("window.copied")
        #expect(try await ChildProcess.run(["sh", "-c", command]).output == [])
        try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
        #expect(try await stage.browser.holds("!\(guide).checkVisibility()"))
        #expect(try await stage.browser.text("document.querySelector('.pill').textContent") == "200")
        // As a command it shows the certificate again.
        try await stage.browser.run(
            """
            window.copied = "",
            document.querySelector("#rows .opener").click(),
            [...document.querySelectorAll(".identity button")].at(-1).click()
            """)
        try await stage.browser.wait(until: "window.copied")
        let again = try await stage.browser.text("window.copied")
        #expect(try await ChildProcess.run(["sh", "-c", again]).output == [])
        try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 2")
        #expect(try await stage.browser.text("document.querySelector('.pill').textContent") == "200")
        try await stage.end()
    }

    @Test func `comes first on a phone, until something is delivered`() async throws {
        let stage = try await PageStage()
        try await stage.browser.resize(width: 390, height: 844, isPhone: true)
        try await stage.open()
        let isAt = { (view: String) in "document.body.dataset.view === '\(view)'" }
        try await stage.browser.wait(until: isAt("requests"))
        try await stage.browser.wait(until: "document.querySelector('#guide pre')")
        for part in [".facts", "button"] {
            let isOnFirstScreen =
                "document.querySelector('#guide \(part)').getBoundingClientRect().bottom <= innerHeight"
            #expect(try await stage.browser.holds(isOnFirstScreen), "\(part)")
        }
        // Why it was refused is there, too.
        #expect(try await stage.push(#"{"aps":{"alert":"Hello"}}"#, to: "dead0123") == 410)
        try await stage.browser.wait(until: "document.querySelector('#rows .row')")
        #expect(try await stage.browser.holds(isAt("requests")))
        try await stage.push(#"{"aps":{"alert":"Hello"}}"#)
        try await stage.browser.wait(until: isAt("lock"))
        #expect(try await stage.browser.holds("document.querySelector('#stacks .card').checkVisibility()"))

        // A part that somebody has chosen stays.
        try await stage.open("#faults")
        try await stage.simulator.ask("POST", "/v1/reset")
        try await stage.browser.wait(until: "!document.querySelector('#rows .row')")
        #expect(try await stage.browser.holds(isAt("faults")))
        try await stage.open()
        try await stage.browser.wait(until: isAt("requests"))
        try await stage.end()
    }
}
