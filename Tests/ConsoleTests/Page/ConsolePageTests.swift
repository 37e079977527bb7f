import ControlProtocol
import JSON
import TestKit
import Testing

@testable import Console

/// The page in a browser, with a console at a real broker and a simulated worker.
@Suite(.timeLimit(.minutes(10))) struct ConsolePageTests {
    private static let brokerStart = Task { try await PrivateBroker() }
    private static let markup = "<img src=x onerror=window.ran=1>"

    /// Runs a test with a console, a worker that has reported, and a browser without a page.
    func run(
        _ prefix: String, configure: @escaping @Sendable (SimulatedWorker) -> Void = { _ in },
        workerName: String? = nil,
        _ body: @escaping @Sendable (ConsoleHarness, SimulatedWorker, ConsolePage) async throws -> Void
    ) async throws {
        let broker = try await Self.brokerStart.value
        try await ConsoleHarness.declare(broker.url, prefix: prefix)
        // The test changes pages faster than an operator.
        let limits = SessionTable.Limits(requestsPerSecond: 1000)
        try await ConsoleHarness.run("role_max: admin", broker: broker.url, prefix: prefix, limits: limits) { console in
            let worker = SimulatedWorker(console, name: workerName)
            configure(worker)
            let session = try await console.logIn(.view, name: "tests")
            try await console.waitForChange(session, "a report") { fleet in
                fleet["workers"]?.list.contains { $0["pauses_revision"]?.int == 0 } == true
            }
            try await body(console, worker, try await ConsolePage(console))
            await worker.close()
        }
    }

    private static let keyBreaker = WorkerStatus.OpenBreaker(
        route: "api.push.apple.com:443 key ABC123DEFG", code: "InvalidProviderToken",
        sentence: "APNs refuses the credential: check the key ID and team ID of a key.", secondsOpen: 60,
        apps: ["com.example.shop"])
    static let reportKey: @Sendable (SimulatedWorker) -> Void = { $0.breakers = [keyBreaker] }

    @Test func `A code logs in once, and leaves neither a fragment nor a cookie`() async throws {
        try await run("logins") { console, _, page in
            let code = try console.code(.operate)
            let browser = page.browser
            try await page.open("#code=\(code)")
            try await browser.wait(until: "!document.querySelector('#app').hidden")
            #expect(try await browser.holds("!location.href.includes('\(code)') && !location.hash.includes('code')"))
            #expect(try await browser.number("history.length") <= 3)
            #expect(try await browser.text("document.cookie") == "")
            #expect(try await browser.number("sessionStorage.getItem('martlet-session').length") == 64)
            #expect(try await browser.number("localStorage.length") == 0)
            #expect(try await browser.text("document.querySelector('#who').textContent") == "alice · operate")
            // A reload keeps the session.
            try await page.open()
            try await browser.wait(until: "!document.querySelector('#app').hidden")
            #expect(try await browser.consoleMessages() == [])
            try await browser.run("document.querySelector('#log-out').click()")
            try await browser.wait(until: "!document.querySelector('#login').hidden")
            #expect(try await browser.holds("sessionStorage.getItem('martlet-session') === null"))
            try await page.open("#code=\(code)")
            try await browser.wait(
                until: "document.querySelector('#login-problem').textContent.includes('The login failed')")
            #expect(try await browser.holds("document.querySelector('#page').childElementCount === 0"))
            try await page.end(allowsConsoleMessages: true)
        }
    }

    @Test func `Each page fits a phone and a desktop, and is readable in light and dark mode`() async throws {
        let configure: @Sendable (SimulatedWorker) -> Void = { worker in
            let long = String(repeating: "Donaudampfschifffahrt", count: 8)
            worker.breakers = [
                Self.keyBreaker,
                .init(
                    route: "api.push.apple.com:443 key K topic com.example.\(long)", code: "TopicDisallowed",
                    sentence: long, secondsOpen: 7200, apps: ["com.example.\(long)"]),
            ]
            worker.reasons = ["the broker is away", long]
        }
        try await run("layouts", configure: configure) { console, _, page in
            try await page.logIn(console, .admin)
            let browser = page.browser
            for scheme in Browser.Scheme.allCases {
                try await browser.prefer(scheme)
                for (device, width, height) in [("phone", 360, 740), ("desktop", 1440, 900)] {
                    try await browser.resize(width: width, height: height, isPhone: device == "phone")
                    for name in ConsolePage.names + ["worker"] {
                        if name == "worker" {
                            try await browser.run("location.hash = '#/workers/w1'")
                            try await browser.wait(until: "document.querySelector('#page .facts')")
                        } else {
                            try await page.show(name)
                        }
                        let place = "\(name) on a \(device), \(scheme)"
                        #expect(
                            try await browser.number("document.documentElement.scrollWidth") <= width, "\(place)")
                        #expect(try await browser.text(Contrast.belowLimit) == "", "\(place)")
                        try await page.writePicture("\(device)-\(scheme)-\(name)")
                    }
                    try await page.show("now")
                    try await browser.run("\(ConsolePage.button("Pause…", in: ".head")).click()")
                    #expect(try await browser.text(Contrast.belowLimit) == "", "the dialog, \(device), \(scheme)")
                    #expect(
                        try await browser.holds(
                            "document.querySelector('#action').getBoundingClientRect().right <= innerWidth"))
                    try await page.writePicture("\(device)-\(scheme)-dialog")
                    try await browser.press(.escape)
                    try await browser.wait(until: "!document.querySelector('#action').open")
                }
            }
            try await page.end()
        }
    }

    @Test func `Two clicks on the confirmation are one pause`() async throws {
        try await run("clicks") { console, worker, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await page.planPause()
            #expect(
                try await browser.text("document.querySelector('#action .summary').textContent")
                    == "Pauses the topic com.example.shop in 1 worker")
            #expect(
                try await browser.text("document.querySelector('#action .command code').textContent")
                    == "$ martlet pause --fleet --config martlet.yaml --topic com.example.shop "
                    + "--reason 'wrong campaign'")
            try await browser.run(
                """
                ((button) => { button.click(); button.click(); })(document.querySelector('#action button.main'))
                """)
            try await browser.wait(until: "document.querySelector('#action .result .mark.good')")
            #expect(worker.paused == ["topic com.example.shop"])
            #expect(try await page.requestCount("/api/actions") == 1)
            // Screen readers do not reach an announcement outside of the dialog.
            try await browser.wait(
                until: "document.querySelector('#action .announcer').textContent.includes('Pause: done.')")
            try await browser.press(.escape)
            try await browser.wait(until: "document.querySelector('#page .card h3.paused')")
            let session = try await console.logIn(.view, name: "tests")
            try await console.waitForAudit(session) { records in
                records.filter { $0["verb"]?.string == "pause" }.compactMap { $0["phase"]?.string }
                    == ["after", "before"]
            }
            try await page.end()
        }
    }

    @Test func `The card of a cause probes its breakers`() async throws {
        try await run("cards", configure: Self.reportKey) { console, worker, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await page.show("now")
            try await browser.wait(until: ConsolePage.button("Probe now…"))
            try await browser.run("\(ConsolePage.button("Probe now…")).click()")
            try await page.enter("new key", into: "why")
            try await page.waitForPlan()
            try await browser.run("document.querySelector('#action button.main').click()")
            try await browser.wait(until: "document.querySelector('#action .result .mark.good')")
            #expect(worker.probes == ["key ABC123DEFG"])
            try await browser.press(.escape)
            try await browser.wait(until: "document.querySelector('#page .quiet')")
            try await page.end()
        }
    }

    @Test func `The role view is offered no action`() async throws {
        try await run("viewers", configure: Self.reportKey) { console, worker, page in
            try await page.logIn(console, .view)
            let browser = page.browser
            for name in ["now", "keys", "queues", "workers"] {
                try await page.show(name)
                // The labels of actions end with an ellipsis.
                let offered =
                    "[...document.querySelectorAll('#page button')].some((one) => one.textContent.endsWith('…'))"
                #expect(try await browser.holds("!\(offered)"), "\(name)")
            }
            try await page.show("now")
            #expect(
                try await browser.text("document.querySelector('#page .role-note code').textContent")
                    == "$ sudo -u martlet-console martlet console open --role operate")
            // The console refuses a request that the page does not offer.
            let status = try await browser.number(
                """
                fetch('/api/actions', { method: 'POST',
                  headers: { authorization: `Bearer ${sessionStorage.getItem('martlet-session')}` },
                  body: JSON.stringify({ id: '0a000000-0000-4000-8000-000000000001', action: 'pause',
                    arguments: { scope: 'topic com.example.shop' }, why: 'w', expect: 'x' }) })
                  .then((response) => response.status)
                """)
            #expect(status == 403 && worker.paused.isEmpty)
            try await page.end(allowsConsoleMessages: true)
        }
    }

    @Test func `Markup in reports and reasons creates no element`() async throws {
        let configure: @Sendable (SimulatedWorker) -> Void = { worker in
            worker.reasons = [Self.markup]
            worker.breakers = [
                .init(
                    route: "\(Self.markup) key \(Self.markup)", code: Self.markup, sentence: Self.markup,
                    secondsOpen: 1, apps: [Self.markup])
            ]
        }
        try await run("markup", configure: configure, workerName: Self.markup) { console, _, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await page.show("now")
            try await browser.run("\(ConsolePage.button("Pause…", in: ".head")).click()")
            try await page.enter(Self.markup, into: "scope")
            try await page.enter(Self.markup, into: "why")
            try await page.waitForPlan()
            try await browser.run("document.querySelector('#action button.main').click()")
            try await browser.wait(until: "document.querySelector('#action .result .mark.good')")
            try await browser.press(.escape)
            try await browser.wait(until: "document.querySelector('#page .card h3.paused')")
            for name in ConsolePage.names {
                try await page.show(name)
                if ["now", "workers"].contains(name) {
                    let text = try await browser.text("document.querySelector('#page').textContent")
                    #expect(text.contains(Self.markup), "\(name)")
                }
                #expect(try await browser.holds("!document.querySelector('img') && !window.ran"), "\(name)")
            }
            let worker = "workers/' + encodeURIComponent('\(Self.markup)') + '"
            try await browser.run("location.hash = '#/\(worker)'")
            try await browser.wait(until: "document.querySelector('#page .facts')")
            #expect(try await browser.holds("!document.querySelector('img') && !window.ran"))
            try await page.end()
        }
    }

    @Test func `The header names a broker that is away`() async throws {
        try await ConsoleHarness.run("role_max: admin") { console in
            let page = try await ConsolePage(console)
            try await page.logIn(console, .operate)
            let banner = "document.querySelector('#banner')"
            try await page.browser.wait(until: "!\(banner).hidden && \(banner).textContent.includes('broker away for')")
            #expect(try await page.browser.text("document.querySelector('#state').textContent") == "broker away")
            try await page.end()
        }
    }
}
