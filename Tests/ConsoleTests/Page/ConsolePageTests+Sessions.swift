import ControlProtocol
import TestKit
import Testing

@testable import Console

/// Proxies before the console.
extension ConsolePageTests {
    @Test func `The page works behind a proxy that knows the operator by a cookie`() async throws {
        try await run("proxies") { console, _, direct in
            let proxy = CookieProxy(to: try console.endpoint, on: console.loop)
            defer { proxy.close() }
            let page = direct.at(try proxy.listen())
            let browser = page.browser
            try await page.open()
            #expect(try await browser.text("document.title") == "Sign in")
            try await browser.run("document.cookie = '\(CookieProxy.cookie)'")
            try await page.logIn(console, .operate)
            for name in ConsolePage.names { try await page.show(name) }
            // The proxy's own session ends.
            try await browser.run("document.cookie = '\(CookieProxy.cookie); max-age=0'")
            try await browser.wait(
                until: "document.querySelector('#banner').textContent.includes('a proxy requires a login')")
            try await page.end(allowsConsoleMessages: true)
        }
    }
}
