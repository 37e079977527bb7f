import ControlProtocol
import TestKit
import Testing

@testable import Console

/// Proxies, and what a tab stores over the end of a session.
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

    @Test func `A pending action survives the end of a session, but not a logout`() async throws {
        try await run("pending") { console, _, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await page.planPause()
            try await page.intercept("POST", "^/api/actions$", .pending)
            try await page.confirm()
            try await page.waitForDialog("sent")
            try await page.expire(console)
            #expect(try await browser.holds("!document.querySelector('#action').open"))
            #expect(try await page.stores("wrong campaign"))

            try await page.logIn(console, .operate)
            try await page.waitForDialog("The console does not know this action")
            try await page.logOut()
            #expect(try await browser.number("sessionStorage.length") == 0)
            try await page.end(allowsConsoleMessages: true)
        }
    }

    @Test func `A tab stores no device token`() async throws {
        let token = String(repeating: "00fc13ad", count: 8)
        try await run("pushes") { console, _, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await page.show("test")
            for (name, text) in [("app", "com.example.shop"), ("device_token", token)] {
                try await browser.run("document.querySelector('#page [name=\(name)]').focus()")
                try await browser.type(text)
            }
            try await browser.run("document.querySelector('#page form').requestSubmit()")
            try await page.enter("new certificate", into: "why")
            try await page.waitForPlan()
            try await page.intercept("POST", "^/api/actions$", .pending)
            try await page.confirm()
            try await page.waitForDialog("sent")
            #expect(try await page.stores("Test push to com.example.shop"))
            #expect(try await !page.stores(token))
            try await page.end()
        }
    }
}
