import ControlProtocol
import EventLoop
import Glibc
import TestKit
import Testing

@testable import Console

/// The page of a console, in a headless Chromium.
struct ConsolePage {
    /// The names of all pages except the page of one worker.
    static let names = ["now", "find", "apps", "dead", "queues", "workers", "keys", "test", "audit"]

    let browser: Browser
    private var origin: String

    init(_ console: ConsoleHarness) async throws {
        origin = String(console.server.url.dropLast())
        browser = try await Browser()
        try await browser.resize(width: 1440, height: 900)
    }

    /// Returns the page of the same browser at a proxy before the console.
    func at(_ proxy: Endpoint) -> ConsolePage {
        var page = self
        page.origin = "http://\(proxy)"
        return page
    }

    /// Loads the page with a fragment.
    func open(_ fragment: String = "") async throws {
        // The browser would not reload a URL that differs only in its fragment.
        try await browser.open("about:blank")
        try await browser.open("\(origin)/\(fragment)")
    }

    /// Opens the page with a login code, and waits until it shows the state of the fleet.
    func logIn(_ console: ConsoleHarness, _ role: OperatorRole, name: String = "alice") async throws {
        try await open("#code=\(try console.code(role, name: name))")
        try await browser.wait(until: "!document.querySelector('#app').hidden")
        try await browser.wait(until: "document.querySelector('#state .mark.good, #state .mark.warn')")
    }

    /// Ends the session of the page at the console, and waits for the form of the login.
    func expire(_ console: ConsoleHarness) async throws {
        let session = try await browser.text("sessionStorage.getItem('martlet-session')")
        _ = try await console.request("DELETE", "/api/session", session: session)
        try await browser.wait(until: "!document.querySelector('#login').hidden")
    }

    /// Presses *Log out*, and waits for the form of the login.
    func logOut() async throws {
        try await browser.run("document.querySelector('#log-out').click()")
        try await browser.wait(until: "!document.querySelector('#login').hidden")
    }

    /// Shows a page, and waits for its data.
    func show(_ name: String) async throws {
        try await browser.run("location.hash = '#/\(name)'")
        try await browser.wait(
            until: """
                document.querySelector('#page').dataset.name === '\(name)'
                  && !document.querySelector('#page').hasAttribute('aria-busy')
                """)
    }

    /// A JavaScript expression that returns the button with a label; undefined without one.
    static func button(_ label: String, in selector: String = "#page") -> String {
        "[...document.querySelectorAll(`\(selector) button`)].find((button) => button.textContent === `\(label)`)"
    }

    /// Enters a text into a field of the dialog.
    func enter(_ text: String, into name: String) async throws {
        try await browser.run("document.querySelector('#action [name=\(name)]').focus()")
        try await browser.type(text)
    }

    /// Waits until the dialog has the plan.
    func waitForPlan() async throws {
        try await browser.wait(until: "document.querySelector('#action .summary')")
        try await browser.wait(until: "!document.querySelector('#action button.main').disabled")
    }

    /// Returns the number of requests whose URL has this path and query.
    func requestCount(_ target: String) async throws -> Int {
        try await browser.requestedURLs().count { $0 == origin + target }
    }

    /// Closes the browser. Checks that the page has requested nothing from other origins, and that its console is
    /// empty. The console would contain violations of the content security policy.
    ///
    /// - Parameter allowsConsoleMessages: whether the page may have logged to its console, for example a refusal.
    func end(allowsConsoleMessages: Bool = false) async throws {
        let elsewhere = try await browser.requestedURLs().filter { !$0.hasPrefix("\(origin)/") && $0 != "about:blank" }
        #expect(elsewhere == [])
        if !allowsConsoleMessages { #expect(try await browser.consoleMessages() == []) }
        try await browser.close()
    }

    /// Writes a screenshot to the folder that MARTLET_PICTURES names. Does nothing if the variable is not set.
    func writePicture(_ name: String) async throws {
        guard let folder = getenv("MARTLET_PICTURES").map({ String(cString: $0) }) else { return }
        try await browser.writePicture(to: "\(folder)/\(name).png")
    }
}
