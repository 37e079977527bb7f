import TestKit
import Testing

/// Tests of the detail view of a request.
extension ToolTests.Page {
    @Test func `shows a complete request using only the keyboard`() async throws {
        let fixture = try await PageFixture()
        // Decoding and encoding this JSON again would change it.
        try await fixture.push(#"{"aps":{"alert":"N\u00b0","badge":1.50e1},"a":1,"a":12345678901234567890}"#)
        try await fixture.browser.wait(until: "document.querySelector('#rows .row')")
        try await fixture.tab(to: "#rows .opener")
        try await fixture.browser.press(.enter)
        #expect(try await fixture.browser.holds("document.querySelector('#detail').open"))
        let text = try await fixture.browser.text("document.querySelector('#detail').innerText")
        for word in ["1.50e1", #""N\u00b0""#, "12345678901234567890", ":path", "apns-topic", "com.example.app"] {
            #expect(text.contains(word), "\(word) in \(text)")
        }
        // nghttp sends the provider token as a never-indexed field.
        let token =
            "[...document.querySelectorAll('.headers li')].find((li) => li.textContent.startsWith('authorization'))"
        #expect(try await fixture.browser.text("\(token).textContent").contains("never"))
        try await fixture.browser.press(.escape)
        #expect(try await fixture.browser.holds("document.querySelector('#detail').open") == false)
        #expect(try await fixture.browser.holds("document.activeElement.matches('#rows .opener')"))
        try await fixture.end()
    }

    @Test func `opens a request by link, steps to its neighbors, and copies it as a command`() async throws {
        let fixture = try await PageFixture()
        let id = "6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa"
        for text in ["One", "Two", "It's three"] {
            try await fixture.push(#"{"aps":{"alert":"\#(text)"}}"#, ["apns-id: \(id)"])
        }
        try await fixture.open("#request-2")
        let heading = "document.querySelector('#detail-heading').textContent"
        try await fixture.browser.wait(until: "\(heading) === 'Request 2'")
        #expect(try await fixture.browser.text("document.querySelector('.identity code').textContent") == id)
        try await fixture.browser.wait(until: "!document.querySelector('#detail-newer').disabled")
        try await fixture.browser.run("document.querySelector('#detail-newer').click()")
        #expect(try await fixture.browser.text(heading) == "Request 3")
        #expect(try await fixture.browser.text("location.hash") == "#request-3")
        #expect(try await fixture.browser.holds("document.querySelector('#detail-newer').disabled"))
        try await fixture.browser.run(
            """
            navigator.clipboard.writeText = async (text) => { window.copied = text; },
            [...document.querySelectorAll(".identity button")].at(-1).click()
            """)
        try await fixture.browser.wait(until: "window.copied")
        let command = try await fixture.browser.text("window.copied")
        #expect(!command.contains("--cert"))
        let token = try fixture.simulator.authorization().replacing("bearer ", with: "")
        let curl = try await ChildProcess.run([
            "sh", "-c",
            "PROVIDER_TOKEN='\(token)'; \(command) --silent --output /dev/null --write-out '%{http_code}'",
        ])
        #expect(curl.output == ["200"])
        try await fixture.browser.run("document.querySelector('#detail').close()")
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 4")
        try await fixture.browser.wait(until: "location.hash === ''")
        let texts = "[...document.querySelectorAll('#rows .opener')].map((opener) => opener.textContent).join('; ')"
        #expect(try await fixture.browser.text(texts) == "It's three; It's three; Two; One")
        try await fixture.end()
    }

    @Test func `copies a command with the client certificate and empty headers`() async throws {
        let directory = try TemporaryDirectory("demo")
        let fixture = try await PageFixture("--write-demo", directory.path)
        _ = try await ChildProcess.run([
            "curl", "--silent", "--http2", "--cacert", directory.file("ca.pem"), "--cert", directory.file("client.pem"),
            "--key", directory.file("client-key.pem"), "--header", "apns-topic: com.example.app", "--header", "x-own;",
            "--data", "{}", "https://localhost:\(fixture.simulator.port)/3/device/aa01",
        ])
        try await fixture.browser.wait(until: "document.querySelector('#rows .row')")
        try await fixture.browser.run(
            """
            navigator.clipboard.writeText = async (text) => { window.copied = text; },
            document.querySelector('#rows .opener').click(),
            [...document.querySelectorAll(".identity button")].at(-1).click()
            """)
        try await fixture.browser.wait(until: "window.copied")
        let command = try await fixture.browser.text("window.copied")
        #expect(command.contains("-H 'x-own;'"), "\(command)")
        #expect(command.contains("--cert \(directory.file("client.pem"))"), "\(command)")
        try await fixture.end()
    }

    @Test func `marks a truncated payload and offers no command to resend it`() async throws {
        let fixture = try await PageFixture()
        let text = String(repeating: "x", count: 6000 - 20)
        #expect(try await fixture.push(#"{"aps":{"alert":"\#(text)"}}"#) == 413)
        try await fixture.browser.wait(until: "document.querySelector('#rows .row')")
        try await fixture.browser.run("document.querySelector('#rows .opener').click()")
        let detail = try await fixture.browser.text("document.querySelector('#detail').textContent")
        #expect(detail.contains("Payload, the first 5,120 of 6,000 bytes"), "\(detail.prefix(400))")
        #expect(!detail.contains("Copy as curl"))
        try await fixture.end()
    }

    @Test func `steps to older and newer requests of the list`() async throws {
        let fixture = try await PageFixture()
        for text in ["Odd one", "Even", "Odd three"] { try await fixture.push(#"{"aps":{"alert":"\#(text)"}}"#) }
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 3")
        let browser = fixture.browser
        func isShown(_ number: Int, _ text: String, isLast: Bool = false) async throws {
            let heading = try await browser.text("document.querySelector('#detail-heading').textContent")
            #expect(heading == "Request \(number)")
            #expect(try await browser.text("document.querySelector('.lead').textContent") == text)
            #expect(try await browser.text("location.hash") == "#request-\(number)")
            #expect(try await browser.holds("document.querySelector('#detail-older').disabled") == isLast)
        }
        try await browser.run("document.querySelector('#rows .opener').click()")
        try await isShown(3, "Odd three")
        try await fixture.tab(to: "#detail-older")
        try await browser.press(.enter)
        try await isShown(2, "Even")
        try await browser.press(.enter)
        try await isShown(1, "Odd one", isLast: true)
        // The focused button is now disabled, but the page still handles keys.
        try await browser.press(.left)
        try await isShown(2, "Even")
        try await browser.press(.right)
        try await isShown(1, "Odd one", isLast: true)
        try await browser.press(.escape)
        try await browser.wait(until: "location.hash === ''")

        try await browser.run(
            """
            document.querySelector("#find").value = "odd",
            document.querySelector("#find").dispatchEvent(new Event("input")),
            document.querySelector("#rows .opener").click(),
            document.querySelector("#detail-older").click()
            """)
        try await isShown(1, "Odd one", isLast: true)
        try await fixture.end()
    }

    @Test func `copies a link that opens the request`() async throws {
        let fixture = try await PageFixture()
        for text in ["One", "Two"] { try await fixture.push(#"{"aps":{"alert":"\#(text)"}}"#) }
        try await fixture.browser.wait(until: "document.querySelectorAll('#rows .row').length === 2")
        try await fixture.browser.run(
            """
            navigator.clipboard.writeText = async (text) => { window.copied = text; },
            [...document.querySelectorAll("#rows .opener")].at(-1).click(),
            [...document.querySelectorAll(".identity button")].find((b) => b.textContent === "Copy link").click()
            """)
        try await fixture.browser.wait(until: "window.copied")
        let link = try await fixture.browser.text("window.copied")
        #expect(link == "\(fixture.origin)/#request-1")
        try await fixture.browser.wait(until: "document.querySelector('.identity').textContent.includes('Copied')")
        try await fixture.open(String(link.dropFirst(fixture.origin.count + 1)))
        try await fixture.browser.wait(until: "document.querySelector('#detail').open")
        #expect(try await fixture.browser.text("document.querySelector('.lead').textContent") == "One")
        try await fixture.end()
    }
}
