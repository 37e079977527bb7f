import ControlProtocol
import TestKit
import Testing

@testable import Console

/// Plans, refusals and outcomes of actions, as the page shows them.
extension ConsolePageTests {
    private static let alert = "document.querySelector('#action [role=alert]')"

    @Test func `A typed phrase does not confirm another plan`() async throws {
        try await run("phrases") { console, _, page in
            try await page.logIn(console, .admin)
            let browser = page.browser
            try await page.show("now")
            try await browser.run("\(ConsolePage.button("Pause…", in: ".head")).click()")
            try await browser.run(
                """
                ((kind) => { kind.value = 'everything'; kind.onchange({ currentTarget: kind }); })(
                  document.querySelector('#action [name=kind]'))
                """)
            try await page.enter("maintenance", into: "why")
            let phrase = "document.querySelector('#action [name=phrase]')"
            let isDisabled = "document.querySelector('#action button.main').disabled"
            try await browser.wait(until: phrase)
            try await page.enter("pause phrases", into: "phrase")
            try await browser.wait(until: "!\(isDisabled)")
            try await page.enter(" of all apps", into: "why")
            try await browser.wait(until: phrase)
            #expect(try await browser.text("\(phrase).value") == "")
            #expect(try await browser.holds(isDisabled))
            try await page.end()
        }
    }

    @Test func `A dialog announces that there is no plan`() async throws {
        try await run("alerts") { console, _, page in
            try await page.logIn(console, .operate)
            try await page.intercept(
                "POST", "preview=1", .json(400, "{ error: 'the scope is unknown', code: 'invalid' }"))
            try await page.show("now")
            try await page.browser.run("\(ConsolePage.button("Pause…", in: ".head")).click()")
            try await page.enter("com.example.shop", into: "scope")
            try await page.enter("wrong campaign", into: "why")
            try await page.browser.wait(until: "\(Self.alert)?.textContent === 'the scope is unknown'")
            try await page.end()
        }
    }

    @Test func `A refusal after a missing answer does not promise that nothing was changed`() async throws {
        try await run("refusals") { console, _, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await page.planPause()
            try await page.intercept("POST", "^/api/actions$", .json(409, "{ error: 'e', code: 'expired' }"))
            try await page.confirm()
            try await page.waitForDialog("Refused Nothing was changed.")
            #expect(try await browser.text("\(Self.alert).textContent").hasPrefix("The plan has expired"))

            try await browser.run("\(ConsolePage.button("Make a new plan", in: "#action")).click()")
            try await page.waitForPlan()
            try await page.intercept("POST", "^/api/actions$", .lost)
            try await page.confirm()
            try await page.waitForDialog("No answer")
            try await page.intercept("POST", "^/api/actions$", .json(409, "{ error: 'e', code: 'moved' }"))
            try await browser.run("\(ConsolePage.button("Send again", in: "#action")).click()")
            try await page.waitForDialog("Refused An earlier request had no answer, and may have run the action.")
            #expect(try await browser.text("\(Self.alert).textContent").hasPrefix("The state has changed"))
            try await page.end()
        }
    }

    @Test func `The reason why an action cannot be stopped remains while it runs`() async throws {
        try await run("stops") { console, _, page in
            try await page.logIn(console, .operate)
            try await page.planPause()
            let running = """
                { state: 'running', progress: { done: window.polls = (window.polls ?? 0) + 1, total: 100 } }
                """
            try await page.intercept("POST", "^/api/actions$", .json(201, running))
            try await page.intercept("GET", "^/api/actions/", .json(200, running))
            try await page.intercept("DELETE", "^/api/actions/", .json(409, "{ error: 'e', code: 'not_stoppable' }"))
            try await page.confirm()
            try await page.browser.wait(until: ConsolePage.button("Stop", in: "#action"))
            try await page.browser.run("\(ConsolePage.button("Stop", in: "#action")).click()")
            try await page.browser.wait(until: Self.alert)
            let polls = try await page.browser.number("window.polls")
            try await page.waitForDialog("\(polls + 2) of 100")
            #expect(try await page.browser.text("\(Self.alert).textContent") == "e")
            try await page.end()
        }
    }

    @Test func `The audit marks the outcomes of its records`() async throws {
        try await run("outcomes") { console, _, page in
            try await page.logIn(console, .view)
            let records = [
                "{ verb: 'edit', phase: 'before' }",
                "{ verb: 'edit', phase: 'after', outcome: 'done', result: 'sent to push.requests' }",
                "{ verb: 'drop', phase: 'after', outcome: 'stopped', result: 'r' }",
                "{ verb: 'pause', phase: 'after', outcome: 'failed', result: 'revision 1: in force at 1 worker' }",
                "{ verb: 'probe', phase: 'after', result: 'r' }",
                "{ verb: 'login', phase: 'after', result: 'view, with a code' }",
                "{ verb: 'refusal', phase: 'after', result: 'r' }",
            ].enumerated().map { index, record in
                "{ at: \(index + 1), by: 'alice', console: 'c', id: '\(index)', ...\(record) }"
            }
            try await page.intercept(
                "GET", "^/api/audit", .json(200, "{ records: [\(records.joined(separator: ", "))], next: null }"))
            try await page.show("audit")
            let marks = "[...document.querySelectorAll('#page .record .mark')].map((one) => one.textContent).join()"
            #expect(try await page.browser.text(marks) == "begins,done,stopped,failed,ended,done,refused")
            try await page.end()
        }
    }

    @Test(arguments: [
        ("api.push.apple.com:443 key ABC123DEFG", #"["com.example.shop"]"#, "Only the requests of com.example.shop."),
        ("api.push.apple.com:443", "null", "The requests of all apps."),
    ])
    func `The waiting requests of a cause return in its apps`(route: String, apps: String, note: String) async throws {
        let configure: @Sendable (SimulatedWorker) -> Void = { worker in
            worker.breakers = [
                .init(route: route, code: "unreachable", sentence: "s", secondsOpen: 60, apps: ["com.example.shop"])
            ]
        }
        try await run("causes\(apps.utf8.count)", configure: configure) { console, _, page in
            try await page.logIn(console, .operate)
            let browser = page.browser
            try await page.show("now")
            let button = ConsolePage.button("Bring all back…")
            try await browser.wait(until: button)
            try await browser.run("\(button).click()")
            #expect(try await browser.text("document.querySelector('#action').textContent").contains(note))
            try await page.intercept("POST", "preview=1", .json(400, "{ error: 'no plan' }"))
            try await page.enter("repaired", into: "why")
            try await browser.wait(until: Self.alert)
            #expect(try await browser.text("JSON.stringify(JSON.parse(window.sent[0]).arguments.apps)") == apps)
            try await page.end()
        }
    }
}
