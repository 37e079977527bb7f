import TestKit
import Testing

/// Tests of the simulator's devices, keys, channels and switches.
extension ToolTests.Page {
    @Test func `shows and changes the state, and shows why connections failed`() async throws {
        let fixture = try await PageFixture()
        _ = try? await ChildProcess.run([
            "curl", "--silent", "--http1.1", "--insecure", "https://127.0.0.1:\(fixture.simulator.port)/",
        ])
        try await fixture.browser.wait(until: "document.querySelector('#failure-list').textContent.includes('ALPN')")
        let line = try await fixture.simulator.process.errors.line { $0.contains("ALPN") }
        #expect(line.hasPrefix("apns-simulator: connection 1 (production"), "\(line)")
        try await fixture.browser.run(
            "document.querySelectorAll('#world details').forEach((part) => { part.open = true; })")
        try await fixture.browser.wait(
            until: "document.querySelector('#switch-list').textContent.includes('gate_violation')")
        try await fixture.browser.run(
            """
            document.querySelector("#device-token").value = "aa01",
            document.querySelector("#device-app").value = "com.example.app",
            document.querySelector("#device-state").value = "unregistered",
            document.querySelector("#device-form button").click()
            """)
        try await fixture.browser.wait(until: "document.querySelector('#device-list li')")
        // The new row is complete immediately, not only after the next refresh.
        #expect(
            try await fixture.browser.text("document.querySelector('#device-list select').value") == "unregistered")
        #expect(
            try await fixture.browser.text("document.querySelector('#device-list .about').textContent")
                == "com.example.app")
        #expect(try await fixture.browser.holds("!document.querySelector('#device-list [title]')"))
        #expect(
            try await fixture.browser.text("document.querySelector('#device-outcome').textContent")
                == "The device is unregistered.")
        #expect(try await fixture.push(#"{"aps":{"alert":"x"}}"#, to: "aa01") == 410)
        try await fixture.browser.run("document.querySelector('#device-list button').click()")
        try await fixture.browser.wait(until: "document.querySelector('#device-list li') === null")
        #expect(try await fixture.push(#"{"aps":{"alert":"x"}}"#, to: "aa01") == 200)
        try await fixture.browser.run(
            """
            document.querySelector("#switch-name").value = "past_expiration",
            document.querySelector("#switch-value").value = "BadExpirationDate",
            document.querySelector("#switch-form button").click()
            """)
        try await fixture.browser.wait(until: "document.querySelector('#switch-outcome').textContent !== ''")
        #expect(try await fixture.push(#"{"aps":{"alert":"x"}}"#, ["apns-expiration: 1"]) == 400)
        try await fixture.end()
    }

    @Test func `revokes a key, and restores it`() async throws {
        let fixture = try await PageFixture()
        let payload = #"{"aps":{"alert":"x"}}"#
        #expect(try await fixture.push(payload) == 200)
        try await fixture.browser.run(
            "document.querySelectorAll('#world details').forEach((part) => { part.open = true; })")
        for (button, status) in [("Revoke", 403), ("Restore", 200)] {
            let shown = "document.querySelector('#key-list button')?.textContent === '\(button)'"
            try await fixture.browser.wait(until: shown)
            #expect(
                try await fixture.browser.holds(
                    "document.querySelector('#key-list .tag').checkVisibility() === \(status == 200)"))
            try await fixture.browser.run("document.querySelector('#key-list button').click()")
            try await fixture.browser.wait(until: "!(\(shown))")
            #expect(try await fixture.push(payload) == status)
        }
        #expect(
            try await fixture.browser.text("document.querySelector('#key-outcome').textContent")
                == "Key DEMOKEY001 restored.")
        try await fixture.end()
    }

    @Test func `lists channels, and deletes one`() async throws {
        let fixture = try await PageFixture()
        for (id, policy) in [("AAAA", 1), ("a%2Bb%2F", 0)] {
            try await fixture.simulator.request(
                "PUT", "/v1/channels/\(id)?app=com.example.app&environment=production",
                #"{"storage_policy":\#(policy)}"#)
        }
        try await fixture.browser.run(
            "document.querySelectorAll('#world details').forEach((part) => { part.open = true; })")
        let listed = "[...document.querySelectorAll('#channel-list li')]"
        try await fixture.browser.wait(until: "\(listed).length === 2")
        #expect(try await fixture.browser.holds("document.querySelector('#channels-nothing').hidden"))
        #expect(
            try await fixture.browser.text("\(listed).map((li) => li.innerText.replaceAll(/\\s+/g, ' ')).join('; ')")
                == "a+b/ Delete com.example.app · production · stores nothing; "
                + "AAAA Delete com.example.app · production · stores the newest")

        try await fixture.browser.run("document.querySelector('#channel-list button').click()")
        try await fixture.browser.wait(until: "\(listed).length === 1")
        #expect(
            try await fixture.browser.text("document.querySelector('#channel-outcome').textContent")
                == "Channel a+b/ deleted.")
        let kept = "fetch('/v1/channels').then((answer) => answer.json()).then(({ channels }) => channels)"
        #expect(
            try await fixture.browser.text("\(kept).then((kept) => kept.map(({ id }) => id).join(' '))") == "AAAA")
        try await fixture.browser.run("document.querySelector('#channel-list button').click()")
        try await fixture.browser.wait(until: "!document.querySelector('#channels-nothing').hidden")
        #expect(try await fixture.browser.number("\(listed).length") == 0)
        try await fixture.end()
    }

    @Test func `lists 100 devices and channels, and counts the rest`() async throws {
        let fixture = try await PageFixture()
        for number in 1000..<1102 {
            try await fixture.simulator.request("PUT", "/v1/devices/\(number)", #"{"app":"com.example.app"}"#)
            try await fixture.simulator.request(
                "PUT", "/v1/channels/\(number)?app=com.example.app&environment=production", #"{"storage_policy":1}"#)
        }
        try await fixture.browser.run(
            "document.querySelectorAll('#world details').forEach((part) => { part.open = true; })")
        for (kind, first, last) in [("device", "1000", "1099"), ("channel", "1101", "1002")] {
            let more = "document.querySelector('#\(kind)s-more')"
            let names = "[...document.querySelectorAll('#\(kind)-list code')].map((code) => code.textContent)"
            let button = "document.querySelector('#\(kind)-list button')"
            try await fixture.browser.wait(until: "\(names).length === 100")
            #expect(
                try await fixture.browser.text("\(names).at(0) + ' to ' + \(names).at(-1)") == "\(first) to \(last)")
            #expect(try await fixture.browser.holds("\(more).checkVisibility()"))
            #expect(try await fixture.browser.text("\(more).textContent") == "2 more are not listed.")
            // Deleting a row makes room for a hidden row.
            for hidden in [1, 0] {
                let next = try await fixture.browser.text("\(names).at(1)")
                try await fixture.browser.run("\(button).click()")
                try await fixture.browser.wait(until: "\(names).at(0) === '\(next)'")
                #expect(try await fixture.browser.number("\(names).length") == 100)
                #expect(try await fixture.browser.holds("\(more).hidden === \(hidden == 0)"))
            }
        }
        try await fixture.end()
    }
}
