import AMQP
import ControlProtocol
import EventLoop
import Glibc
import JSON
import TestKit
import Testing

@testable import Console

/// The actions on dead letters in a browser, with a console at a real broker and a history.
@Suite(.timeLimit(.minutes(10))) struct ConsoleResendPageTests {
    private static let brokerStart = Task { try await PrivateBroker() }
    private static let markup = "<img src=x onerror=window.ran=1>"
    private static let letterCount = 12

    /// Runs a test with a console whose history and queue have `letterCount` dead letters, and a browser.
    private func run(
        _ prefix: String,
        _ body: @escaping @Sendable (ConsoleHarness, PrivateBroker, ConsolePage) async throws -> Void
    ) async throws {
        let broker = try await Self.brokerStart.value
        try await ConsoleHarness.declare(broker.url, prefix: prefix, hasJournal: true)
        let failedAt = (Int64(time(nil)) - 60) * 1000
        let outcomes = try await BrokerClients.publish(
            (1...Self.letterCount).map { Self.letter($0, prefix, failedAt: failedAt) }, to: broker.url)
        try #require(outcomes.allSatisfy { $0 == .confirmed })
        let lines = (1...Self.letterCount).map { JournalLines.refused($0, path: Self.markup, at: failedAt) }
        let batch = JournalLines.batch(lines + [JournalLines.sample(1, path: Self.markup, at: failedAt)], at: failedAt)
        // The test changes pages faster than an operator.
        let limits = SessionTable.Limits(requestsPerSecond: 1000)
        try await ConsoleHarness.run(
            "role_max: admin", broker: broker.url, prefix: prefix, limits: limits, journal: []
        ) { console in
            try await console.publish(batch)
            let session = try await console.logIn(.view, name: "tests")
            try await console.waitForChange(session, "the connection") { $0["broker"]?["connected"]?.bool == true }
            try await console.waitForChange(session, "the history", at: "/api/dead/groups") {
                $0["groups"]?.count == 1
            }
            try await body(console, broker, try await ConsolePage(console))
        }
    }

    /// Returns a dead letter in the format of a worker.
    private static func letter(_ number: Int, _ prefix: String, failedAt: Int64) -> OutgoingMessage {
        let id = "\(JournalLines.id(number))"
        let body = """
            {"id":"\(id)","app":"\(JournalLines.app)","device_token":"\(JournalLines.token)","push_type":"alert",\
            "payload":{"aps":{"alert":"N° \(number)"}}}
            """
        var message = OutgoingMessage(
            exchange: "\(prefix).dead", routingKey: "dead.apns.BadTopic.\(JournalLines.app)", body: Array(body.utf8),
            messageID: id,
            headers: [
                "push-outcome": "rejected", "push-reason-class": "apns", "push-reason-code": "BadTopic",
                "push-reason": "APNs answered 400 BadTopic.", "push-attempt": 1, "push-failed-at": .integer(failedAt),
                "push-origin-queue": .string("\(prefix).requests"),
            ])
        message.carriesUserID = true
        return message
    }

    private static let step = "document.querySelector('.stages [aria-current]')?.textContent"

    /// Waits until the redrive shows a step.
    private static func wait(for name: String, _ page: ConsolePage) async throws {
        try await page.browser.wait(until: "\(step)?.includes('\(name)')")
    }

    /// Waits until a button can be pressed, and presses it.
    private static func press(_ label: String, _ page: ConsolePage) async throws {
        let buttons = "[...document.querySelectorAll('#page button')]"
        let button = "\(buttons).find((one) => one.textContent.startsWith('\(label)'))"
        try await page.browser.wait(until: "\(button) && !\(button).disabled")
        try await page.browser.run("\(button).click()")
    }

    private static func count(_ queue: String, _ broker: PrivateBroker) async throws -> Int {
        try await BrokerClients.withAdmin(broker.url) { try await $0.status(ofQueue: queue).messages }
    }

    /// Opens the only group of dead letters.
    private static func openGroup(_ page: ConsolePage) async throws {
        try await page.show("dead")
        try await page.browser.run("document.querySelector('#page tbody a').click()")
        try await page.browser.wait(until: "document.querySelector('#page .sample')")
    }

    /// Enters the filter and the reason of a redrive of the only group.
    private static func beginRedrive(_ page: ConsolePage) async throws {
        try await openGroup(page)
        try await press("Redrive…", page)
        try await page.browser.wait(until: "document.querySelector('#page [name=where]')")
        for (name, text) in [("where", #"code == "BadTopic""#), ("why", "fixed the topic")] {
            try await page.browser.run("document.querySelector('#page [name=\(name)]').select()")
            try await page.browser.type(text)
        }
    }

    @Test func `A redrive sends ten requests, shows their outcomes after a reload, and sends the rest`() async throws {
        try await run("wizard") { console, broker, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await Self.beginRedrive(page)
            try await Self.press("Dry run", page)
            try await Self.wait(for: "Dry run", page)
            #expect(
                try await browser.text("document.querySelector('#page .summary').textContent")
                    == "Sends 12 dead letters of wizard.dead as requests")
            #expect(try await Self.count("wizard.dead", broker) == 12)
            try await Self.press("Plan the first 10", page)
            try await Self.wait(for: "Send 10", page)
            let send = ConsolePage.button("Send 10")
            try await browser.wait(until: send)
            try await browser.run("((button) => { button.click(); button.click(); })(\(send))")
            try await Self.wait(for: "Watch", page)
            #expect(try await page.requestCount("/api/actions") == 1)
            #expect(try await Self.count("wizard.requests", broker) == 10)

            let address = try await browser.text("location.hash")
            try await page.open(address)
            try await Self.wait(for: "Watch", page)
            let now = console.loop.now.unixMilliseconds
            let lines =
                (1...8).map { JournalLines.accepted($0, at: now) }
                + (9...10).map { JournalLines.refused($0, path: "/", at: now) }
            try await console.publish(JournalLines.batch(lines, sequence: 2, at: now))
            let summary = "document.querySelector('#page .summary')?.textContent"
            try await browser.wait(until: "\(summary) === '8 accepted · 2 dead again (BadTopic)'")
            try await page.writePicture("redrive-watch")

            try await Self.press("Plan the rest", page)
            try await Self.wait(for: "Rest", page)
            try await Self.press("Send the rest at 50/s (2)", page)
            try await browser.wait(until: "document.querySelector('#page .result .mark.good')")
            #expect(try await page.requestCount("/api/actions") == 2)
            #expect(try await Self.count("wizard.requests", broker) == 12)
            #expect(try await Self.count("wizard.dead", broker) == 0)
            try await Self.press("Close", page)
            try await browser.wait(until: "!location.hash.endsWith('redrive')")
            #expect(try await browser.holds("sessionStorage.getItem('martlet-redrive') === null"))
            try await page.end()
        }
    }

    @Test func `A redrive survives the end of a session, but neither a logout nor another operator`() async throws {
        try await run("sessions") { console, _, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await Self.beginRedrive(page)
            try await Self.press("Dry run", page)
            try await Self.wait(for: "Dry run", page)
            let address = try await browser.text("location.hash")
            let stored = try await browser.text("sessionStorage.getItem('martlet-redrive')")
            try await page.expire(console)
            try await page.logIn(console, .operate)
            try await browser.run("location.hash = '\(address)'")
            try await Self.wait(for: "Dry run", page)
            try await page.logOut()
            #expect(try await browser.number("sessionStorage.length") == 0)

            try await browser.run("sessionStorage.setItem('martlet-redrive', String.raw`\(stored)`)")
            try await page.logIn(console, .operate, name: "bob")
            #expect(try await browser.holds("sessionStorage.getItem('martlet-redrive') === null"))
            try await browser.run("location.hash = '\(address)'")
            try await Self.wait(for: "Choose", page)
            #expect(try await browser.text("document.querySelector('#page [name=why]').value") == "")
            try await page.end(allowsConsoleMessages: true)
        }
    }

    @Test func `A redrive shows the place of an error in its filter, and stores no device token`() async throws {
        try await run("filters") { console, _, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await Self.beginRedrive(page)
            #expect(try await page.stores("fixed the topic"))
            try await browser.run("document.querySelector('#page [name=where]').select()")
            try await browser.type(#"app == "é" && token = "\#(JournalLines.token)""#)
            try await page.intercept(
                "POST", "preview=1", .json(400, "{ error: 'the filter is wrong', code: 'filter', offset: 21 }"))
            try await Self.press("Dry run", page)
            let place = "[...document.querySelectorAll('#page .note')].find((one) => one.textContent.includes('error'))"
            try await browser.wait(until: place)
            #expect(
                try await browser.text("\(place).textContent") == #"The error is at: = "\#(JournalLines.token)""#)
            #expect(try await !page.stores(JournalLines.token))
            try await page.end()
        }
    }

    @Test(arguments: ["token", "id"])
    func `A search by device token stays out of the address`(kind: String) async throws {
        try await run("searches-\(kind)") { console, _, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await page.show("find")
            let entries = try await browser.number("history.length")
            try await browser.run("document.querySelector('#page [name=kind]').value = '\(kind)'")
            try await browser.run("document.querySelector('#find-text').focus()")
            try await browser.type(JournalLines.token)
            try await browser.run("document.querySelector('#page form').requestSubmit()")
            try await browser.wait(until: "document.querySelector('#page .records, #page .nothing h3')")
            #expect(try await browser.text("location.hash") == "#/find")
            #expect(try await browser.number("history.length") == entries)
            try await page.end()
        }
    }

    @Test func `A redrive names the operator whose redrive runs`() async throws {
        try await run("holders") { console, _, page in
            let bob = try await console.logIn(.operate, name: "bob")
            let preview = try await console.request(
                "POST", "/api/actions?preview=1", session: bob,
                body: """
                    {"action":"redrive","arguments":{"where":null,"max":null,"rate_per_second":1},"why":"fixed"}
                    """)
            let expect = try #require(try preview.json["expect"]?.string, "\(preview.body)")
            let arguments = String(decoding: try #require(try preview.json["arguments"]).sourceBytes, as: UTF8.self)
            let id = "0c000000-0000-4000-8000-000000000001"
            let begun = try await console.request(
                "POST", "/api/actions", session: bob,
                body: """
                    {"id":"\(id)","action":"redrive","arguments":\(arguments),"why":"fixed","expect":"\(expect)"}
                    """)
            #expect(begun.status == 201, "\(begun.body)")
            try await page.logIn(console, .operate)
            try await Self.beginRedrive(page)
            try await Self.press("Dry run", page)
            try await page.browser.wait(until: "document.querySelector('#page .failure')")
            #expect(try await page.browser.text("document.querySelector('#page .failure').textContent").contains("bob"))
            #expect(try await page.browser.text(Self.step).contains("Choose"))
            _ = try await console.request("DELETE", "/api/actions/\(id)", session: bob)
            try await page.end(allowsConsoleMessages: true)
        }
    }

    @Test func `A revealed payload has a record in the audit, and is hidden on another page`() async throws {
        try await run("reveals") { console, _, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await Self.openGroup(page)
            let shows = "document.querySelector('#page').textContent.includes('\(JournalLines.token)')"
            #expect(try await browser.holds("!\(shows)"))
            try await Self.press("Reveal payload", page)
            try await browser.wait(until: shows)
            let session = try await console.logIn(.view, name: "tests")
            try await console.waitForAudit(session) { records in
                records.contains { $0["verb"]?.string == "reveal" && $0["by"]?.string == "alice" }
            }
            // The path of the group is markup.
            #expect(try await browser.text("document.querySelector('#page').textContent").contains(Self.markup))
            #expect(try await browser.holds("!document.querySelector('img') && !window.ran"))
            try await page.show("dead")
            try await Self.openGroup(page)
            #expect(try await browser.holds("!\(shows)"))
            try await page.end()
        }
    }

    @Test func `The role view is offered no action on dead letters`() async throws {
        try await run("readers") { console, _, page in
            try await page.logIn(console, .view)
            let browser = page.browser
            let offered = "[...document.querySelectorAll('#page button')].some((one) => !one.closest('.command, th'))"
            let explains = "document.querySelector('#page .role-note')"
            try await Self.openGroup(page)
            #expect(try await browser.holds("!\(offered) && Boolean(\(explains))"))
            try await browser.run("location.hash += '/redrive'")
            try await browser.wait(until: "document.querySelector('#page-heading').textContent.startsWith('Redrive')")
            #expect(try await browser.holds("!\(offered) && Boolean(\(explains))"))
            try await page.end()
        }
    }
}
