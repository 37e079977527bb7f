import TestKit
import Testing

/// Tests of the request list.
extension ToolTests.Page {
    @Test func `filters requests by response and device, and loads older ones`() async throws {
        let fixture = try await PageFixture("--gate", "off")
        try await fixture.push(#"{"aps":{"alert":"The first"}}"#, to: "aa01")
        for _ in 0..<2 { try await fixture.push(#"{"aps":{"alert":"Gone"}}"#, to: "dead01") }
        try await fixture.push("", to: "aa02")
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 4")
        let answers =
            "[...document.querySelectorAll('#answer option')].map((option) => option.textContent).join('; ')"
        #expect(
            try await fixture.browser.text(answers)
                == "all answers; 410 Unregistered (2); 400 PayloadEmpty (1); 200 (1)")
        func choose(_ id: String, _ value: String) async throws -> Int {
            try await fixture.browser.run(
                """
                document.querySelector("#\(id)").value = `\(value)`,
                document.querySelector("#\(id)").dispatchEvent(new Event("\(id == "answer" ? "change" : "input")"))
                """)
            return try await fixture.browser.number(
                "[...document.querySelectorAll('#rows .row')].filter((row) => !row.hidden).length")
        }
        #expect(try await choose("answer", "410 Unregistered") == 2)
        #expect(try await choose("answer", "") == 4)
        let device = try await fixture.browser.text("document.querySelectorAll('#addressees option')[0].value")
        #expect(try await choose("addressee", device) == 1)
        #expect(try await choose("addressee", "") == 4)
        // The chosen device stays chosen when many other devices appear.
        #expect(try await choose("addressee", device) == 1)
        #expect(
            try await fixture.browser.text("document.querySelector('.why').textContent")
                == "PayloadEmpty The payload is empty.")

        // Load more than the 500 requests that the page lists at first.
        try await fixture.load(600)
        try await fixture.browser.wait(
            until: "document.querySelector('#requests-note').textContent.includes('of the 500')")
        #expect(try await fixture.browser.text("document.querySelector('#addressee').value") == device)
        try await fixture.open("#requests")
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 500")
        try await fixture.browser.run("document.querySelector('#older').click()")
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 604")
        #expect(
            try await fixture.browser.holds(
                "[...document.querySelectorAll('#rows .row')].at(-1).textContent.includes('The first')"))
        #expect(try await fixture.browser.holds("!document.querySelector('#older').checkVisibility()"))
        try await fixture.end()
    }

    @Test func `explains why a push was refused`() async throws {
        let fixture = try await PageFixture()
        #expect(try await fixture.push(#"{"aps":{"alert":"Hello"}}"#, to: "dead0123") == 410)
        try await fixture.browser.wait(until: "document.querySelector('#rows .refused')")
        let row = try await fixture.browser.text("document.querySelector('#rows .refused').textContent")
        #expect(row.contains("Unregistered The app is no longer on the device."), "\(row)")
        #expect(try await fixture.browser.holds("document.querySelector('#stacks .card') === null"))
        try await fixture.browser.wait(until: "document.querySelector('#figure-refused').textContent === '1'")
        try await fixture.end()
    }

    @Test func `shows the exact reason of a refusal, also while a fault is active`() async throws {
        let fixture = try await PageFixture()
        func why(_ push: () async throws -> Int) async throws -> String {
            let before = try await fixture.browser.number("document.querySelectorAll('#rows .row').length")
            _ = try await push()
            try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === \(before + 1)")
            return try await fixture.browser.text("document.querySelector('#rows .why').textContent")
        }
        let hello = #"{"aps":{"alert":"Hello"}}"#
        let slow = #"{"id":"f","action":{"latency":{"constant_ms":5}}}"#
        try await fixture.simulator.request("POST", "/v1/faults", slow)
        #expect(
            try await why { try await fixture.push(hello, to: "xyz") }
                == "BadDeviceToken The device token is not an even number of hexadecimal digits.")
        try await fixture.simulator.request(
            "POST", "/v1/faults", #"{"id":"f","action":{"answer":{"reason":"PayloadEmpty"}}}"#)
        #expect(try await why { try await fixture.push(hello) } == "PayloadEmpty A fault sent this response.")
        try await fixture.simulator.request("DELETE", "/v1/faults")
        try await fixture.simulator.request("PUT", "/v1/rules", #"{"background_priority_10":"InvalidPushType"}"#)
        #expect(
            try await why {
                try await fixture.push(hello, ["apns-push-type: background", "apns-priority: 10"])
            } == "InvalidPushType A push of type background may not have priority 10.")
        try await fixture.simulator.request("PUT", "/v1/teams/DEMOTEAM01/keys/DEMOKEY001", #"{"revoked":true}"#)
        #expect(
            try await why { try await fixture.push(hello) }
                == "InvalidProviderToken The key of the provider token is revoked.")
        try await fixture.end()
    }

    @Test func `counts malformed HTTP requests`() async throws {
        let fixture = try await PageFixture()
        let client = try await fixture.startPush(#"{"aps":{"alert":"Hello"}}"#, ["connection: close"])
        _ = try await client.exit()
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
        try await fixture.browser.wait(until: "document.querySelector('#figure-refused').textContent === '1'")
        #expect(try await fixture.browser.text("document.querySelector('#figure-requests').textContent") == "1")
        try await fixture.end()
    }
}
