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
}
