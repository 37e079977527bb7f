import TestKit
import Testing

extension ToolTests {
    /// The simulator's page, as people see and use it.
    @Suite struct Page {
        @Test func `shows a push as a lock screen would`() async throws {
            let stage = try await PageStage()
            #expect(try await stage.browser.text("document.querySelector('#rows').textContent") == "")
            let status = try await stage.push(
                #"{"aps":{"alert":{"title":"Storm warning","subtitle":"Hamburg","body":"Stay in — it is öde outside."},"#
                    + #""badge":3,"sound":"default","interruption-level":"time-sensitive","thread-id":"north"}}"#,
                ["apns-topic: com.example.app"])
            #expect(status == 200)
            try await stage.browser.wait(until: "document.querySelector('#stacks .card')")
            let card = "document.querySelector('#stacks .card')"
            #expect(try await stage.browser.text("\(card).querySelector('.title').textContent") == "Storm warning")
            #expect(try await stage.browser.text("\(card).querySelector('.subtitle').textContent") == "Hamburg")
            #expect(
                try await stage.browser.text("\(card).querySelector('.body').textContent")
                    == "Stay in — it is öde outside.")
            let whole = try await stage.browser.text("\(card).textContent")
            for word in ["Example", "Time sensitive", "Badge 3", "Sound", "north", "00fc13ad…+8"] {
                #expect(whole.contains(word), "\(word) in \(whole)")
            }
            try await stage.end()
        }

        @Test func `stacks a thread, and lets one push take another's place`() async throws {
            let stage = try await PageStage()
            for (title, thread) in [("One", "a"), ("Two", "a"), ("Other", "b"), ("Three", "a")] {
                try await stage.push(#"{"aps":{"alert":{"title":"\#(title)"},"thread-id":"\#(thread)"}}"#)
            }
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 4")
            let titles = "JSON.stringify([...document.querySelectorAll('#stacks .title')].map((p) => p.textContent))"
            #expect(try await stage.browser.text(titles) == #"["Three","Other"]"#)
            try await stage.tab(to: ".more")
            try await stage.browser.press(.enter)
            #expect(try await stage.browser.text(titles) == #"["Three","Two","One","Other"]"#)
            #expect(try await stage.browser.text("document.activeElement.textContent") == "Fold")

            for score in ["0:0", "1:0"] {
                try await stage.push(
                    #"{"aps":{"event":"update","timestamp":1,"content-state":{"score":"\#(score)"}}}"#, to: "aa11",
                    ["apns-topic: com.example.app.push-type.liveactivity", "apns-push-type: liveactivity"])
            }
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 6")
            #expect(
                try await stage.browser.number("document.querySelectorAll('.card.liveactivity').length") == 1)
            let activity = try await stage.browser.text("document.querySelector('.card.liveactivity').textContent")
            #expect(activity.contains("1:0") && activity.contains("in place of 1 earlier one"), "\(activity)")
            try await stage.end()
        }

        @Test func `tells devices apart whose tokens begin alike`() async throws {
            let stage = try await PageStage()
            let padding = String(repeating: "0", count: 62)
            for device in ["a1", "b2", "A1"] {
                try await stage.push(
                    #"{"aps":{"event":"update","timestamp":1,"content-state":{"for":"\#(device)"}}}"#,
                    to: padding + device,
                    ["apns-topic: com.example.app.push-type.liveactivity", "apns-push-type: liveactivity"])
                try await stage.push(
                    #"{"aps":{"alert":"To \#(device)"}}"#, to: padding + device, ["apns-collapse-id: same"])
            }
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 6")
            try await stage.browser.run("document.querySelectorAll('.more').forEach((button) => button.click())")
            let activities =
                "[...document.querySelectorAll('.card.liveactivity .pairs dd')].map((dd) => dd.textContent)"
            #expect(try await stage.browser.text("\(activities).join(' ')") == "A1 b2")
            let titles = "[...document.querySelectorAll('.card.alert .title')].map((title) => title.textContent)"
            #expect(try await stage.browser.text("\(titles).join(', ')") == "To A1, To b2")

            // The menu has each once, by names that differ.
            let names = "[...document.querySelectorAll('#device option')].map((option) => option.textContent)"
            #expect(try await stage.browser.number("new Set(\(names)).size") == 3)
            #expect(try await stage.browser.holds("\(names).slice(1).every((name) => name.startsWith('00000000…+56'))"))
            try await stage.browser.run(
                """
                document.querySelector("#device").selectedIndex = 2,
                document.querySelector("#device").dispatchEvent(new Event("change"))
                """)
            #expect(try await stage.browser.text("\(titles).join(', ')") == "To b2")
            try await stage.end()
        }

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

        @Test func `says that a payload is cut, and does not offer to send it again`() async throws {
            let stage = try await PageStage()
            let text = String(repeating: "x", count: 6000 - 20)
            #expect(try await stage.push(#"{"aps":{"alert":"\#(text)"}}"#) == 413)
            try await stage.browser.wait(until: "document.querySelector('#rows .row')")
            try await stage.browser.run("document.querySelector('#rows .opener').click()")
            let detail = try await stage.browser.text("document.querySelector('#detail').textContent")
            #expect(detail.contains("Payload, the first 5,120 of 6,000 bytes"), "\(detail.prefix(400))")
            #expect(!detail.contains("Copy as curl"))
            try await stage.end()
        }

        @Test func `says what exactly was wrong, whatever faults do`() async throws {
            let stage = try await PageStage()
            func why(_ push: () async throws -> Int) async throws -> String {
                let before = try await stage.browser.number("document.querySelectorAll('#rows .row').length")
                _ = try await push()
                try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === \(before + 1)")
                return try await stage.browser.text("document.querySelector('#rows .why').textContent")
            }
            let hello = #"{"aps":{"alert":"Hello"}}"#
            let slow = #"{"id":"f","action":{"latency":{"constant_ms":5}}}"#
            try await stage.simulator.ask("POST", "/v1/faults", slow)
            #expect(
                try await why { try await stage.push(hello, to: "xyz") }
                    == "BadDeviceToken The device token is not an even number of hexadecimal digits.")
            try await stage.simulator.ask(
                "POST", "/v1/faults", #"{"id":"f","action":{"answer":{"reason":"PayloadEmpty"}}}"#)
            #expect(try await why { try await stage.push(hello) } == "PayloadEmpty A fault answered so.")
            try await stage.simulator.ask("DELETE", "/v1/faults")
            try await stage.simulator.ask("PUT", "/v1/rules", #"{"background_priority_10":"InvalidPushType"}"#)
            #expect(
                try await why {
                    try await stage.push(hello, ["apns-push-type: background", "apns-priority: 10"])
                } == "InvalidPushType A push of type background may not have priority 10.")
            try await stage.simulator.ask("PUT", "/v1/teams/DEMOTEAM01/keys/DEMOKEY001", #"{"revoked":true}"#)
            #expect(
                try await why { try await stage.push(hello) }
                    == "InvalidProviderToken The key of the provider token is revoked.")
            try await stage.end()
        }

        @Test func `folds the Live Activities of many devices`() async throws {
            let stage = try await PageStage()
            for device in 10..<30 {
                try await stage.push(
                    #"{"aps":{"event":"update","timestamp":1,"content-state":{"n":1}}}"#, to: "aa\(device)",
                    ["apns-topic: com.example.app.push-type.liveactivity", "apns-push-type: liveactivity"])
            }
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 20")
            let cards = "document.querySelectorAll('.card.liveactivity').length"
            #expect(try await stage.browser.number(cards) == 1)
            #expect(
                try await stage.browser.text("document.querySelector('.more').textContent") == "19 more from Example")
            try await stage.browser.run(
                """
                document.querySelector("#device").selectedIndex = 3,
                document.querySelector("#device").dispatchEvent(new Event("change"))
                """)
            #expect(try await stage.browser.number(cards) == 1)
            #expect(try await stage.browser.holds("document.querySelector('.more') === null"))
            try await stage.end()
        }

        @Test func `finds requests by answer and device, and those further down`() async throws {
            let stage = try await PageStage("--gate", "off")
            try await stage.push(#"{"aps":{"alert":"The first"}}"#, to: "aa01")
            for _ in 0..<2 { try await stage.push(#"{"aps":{"alert":"Gone"}}"#, to: "dead01") }
            try await stage.push("", to: "aa02")
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 4")
            let answers =
                "[...document.querySelectorAll('#answer option')].map((option) => option.textContent).join('; ')"
            #expect(
                try await stage.browser.text(answers)
                    == "every answer; 410 Unregistered (2); 400 PayloadEmpty (1); 200 (1)")
            func choose(_ id: String, _ value: String) async throws -> Int {
                try await stage.browser.run(
                    """
                    document.querySelector("#\(id)").value = `\(value)`,
                    document.querySelector("#\(id)").dispatchEvent(new Event("change"))
                    """)
                return try await stage.browser.number(
                    "[...document.querySelectorAll('#rows .row')].filter((row) => !row.hidden).length")
            }
            #expect(try await choose("answer", "410 Unregistered") == 2)
            #expect(try await choose("answer", "") == 4)
            let device = try await stage.browser.text("document.querySelectorAll('#addressee option')[1].value")
            #expect(try await choose("addressee", device) == 1)
            #expect(try await choose("addressee", "") == 4)
            // What is chosen stays, however many others are pushed to.
            #expect(try await choose("addressee", device) == 1)
            #expect(
                try await stage.browser.text("document.querySelector('.why').textContent")
                    == "PayloadEmpty There is no payload.")

            // Past the 500 that are listed at first.
            try await stage.load(600)
            try await stage.browser.wait(
                until: "document.querySelector('#requests-note').textContent.includes('of the 500')")
            #expect(try await stage.browser.text("document.querySelector('#addressee').value") == device)
            try await stage.open("#requests")
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 500")
            try await stage.browser.run("document.querySelector('#older').click()")
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 604")
            #expect(
                try await stage.browser.holds(
                    "[...document.querySelectorAll('#rows .row')].at(-1).textContent.includes('The first')"))
            #expect(try await stage.browser.holds("!document.querySelector('#older').checkVisibility()"))
            try await stage.end()
        }

        @Test func `opens a request by its link, its neighbours, and as a command`() async throws {
            let stage = try await PageStage()
            let id = "6f1c7c1e-3c52-4a53-9c1b-0d6c0a4be1aa"
            for text in ["One", "Two", "It's three"] {
                try await stage.push(#"{"aps":{"alert":"\#(text)"}}"#, ["apns-id: \(id)"])
            }
            try await stage.open("#request-2")
            let heading = "document.querySelector('#detail-heading').textContent"
            try await stage.browser.wait(until: "\(heading) === 'Request 2'")
            #expect(try await stage.browser.text("document.querySelector('.identity code').textContent") == id)
            try await stage.browser.wait(until: "!document.querySelector('#detail-newer').disabled")
            try await stage.browser.run("document.querySelector('#detail-newer').click()")
            #expect(try await stage.browser.text(heading) == "Request 3")
            #expect(try await stage.browser.text("location.hash") == "#request-3")
            #expect(try await stage.browser.holds("document.querySelector('#detail-newer').disabled"))
            try await stage.browser.run(
                """
                navigator.clipboard.writeText = async (text) => { window.copied = text; },
                [...document.querySelectorAll(".identity button")].at(-1).click()
                """)
            try await stage.browser.wait(until: "window.copied")
            let command = try await stage.browser.text("window.copied")
            let token = try stage.simulator.authorization().replacing("bearer ", with: "")
            let curl = try await ChildProcess.run([
                "sh", "-c",
                "PROVIDER_TOKEN='\(token)'; \(command) --silent --output /dev/null --write-out '%{http_code}'",
            ])
            #expect(curl.output == ["200"])
            try await stage.browser.run("document.querySelector('#detail').close()")
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 4")
            try await stage.browser.wait(until: "location.hash === ''")
            let texts = "[...document.querySelectorAll('#rows .opener')].map((opener) => opener.textContent).join('; ')"
            #expect(try await stage.browser.text(texts) == "It's three; It's three; Two; One")
            try await stage.end()
        }

        @Test func `shows and changes what it knows, and why connections failed`() async throws {
            let stage = try await PageStage()
            _ = try? await ChildProcess.run([
                "curl", "--silent", "--http1.1", "--insecure", "https://127.0.0.1:\(stage.simulator.port)/",
            ])
            try await stage.browser.wait(until: "document.querySelector('#failure-list').textContent.includes('ALPN')")
            let told = try await stage.simulator.process.errors.line { $0.contains("ALPN") }
            #expect(told.hasPrefix("apns-simulator: connection 1 (production"), "\(told)")
            try await stage.browser.run(
                "document.querySelectorAll('#world details').forEach((part) => { part.open = true; })")
            try await stage.browser.wait(
                until: "document.querySelector('#switch-list').textContent.includes('gate_violation')")
            try await stage.browser.run(
                """
                document.querySelector("#device-token").value = "aa01",
                document.querySelector("#device-app").value = "com.example.app",
                document.querySelector("#device-state").value = "unregistered",
                document.querySelector("#device-form button").click()
                """)
            try await stage.browser.wait(
                until: "document.querySelector('#device-list select')?.value === 'unregistered'")
            #expect(try await stage.browser.holds("!document.querySelector('#device-list [title]')"))
            #expect(
                try await stage.browser.text("document.querySelector('#device-outcome').textContent")
                    == "The device is unregistered.")
            #expect(try await stage.push(#"{"aps":{"alert":"x"}}"#, to: "aa01") == 410)
            try await stage.browser.run("document.querySelector('#device-list button').click()")
            try await stage.browser.wait(until: "document.querySelector('#device-list li') === null")
            #expect(try await stage.push(#"{"aps":{"alert":"x"}}"#, to: "aa01") == 200)
            try await stage.browser.run(
                """
                document.querySelector("#switch-name").value = "past_expiration",
                document.querySelector("#switch-value").value = "BadExpirationDate",
                document.querySelector("#switch-form button").click()
                """)
            try await stage.browser.wait(until: "document.querySelector('#switch-outcome').textContent !== ''")
            #expect(try await stage.push(#"{"aps":{"alert":"x"}}"#, ["apns-expiration: 1"]) == 400)
            try await stage.end()
        }

        @Test func `opens a run that was saved`() async throws {
            let directory = try TemporaryDirectory("record")
            let file = directory.file("run.jsonl")
            let before = try await PageStage("--gate", "off", "--record", file, "--record-detail", "full")
            try await before.push(#"{"aps":{"alert":"One"}}"#)
            try await before.load(600)
            try await before.end()

            let stage = try await PageStage()
            try await stage.push(#"{"aps":{"alert":"Of this one"}}"#)
            try await stage.browser.choose(file: file, in: "#record-file")
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 601")
            let last = "[...document.querySelectorAll('#rows .opener')].at(-1)"
            #expect(try await stage.browser.text("\(last).textContent") == "One")
            #expect(try await stage.browser.text("document.querySelector('#link-text').textContent") == "run.jsonl")
            #expect(try await stage.browser.holds("!document.querySelector('#older').checkVisibility()"))
            try await stage.browser.run("\(last).click()")
            #expect(try await stage.browser.holds("!document.querySelector('.acts').checkVisibility()"))
            try await stage.browser.run("document.querySelector('#detail').close()")

            let summary = try directory.write("summary.jsonl", #"{"number":1}"# + "\n")
            for (file, words) in [
                (try directory.write("no.jsonl", "{}\n"), "line 1"), (summary, "--record-detail full"),
                (
                    try directory.write(
                        "shape.jsonl",
                        #"{"number":1,"unix_ms":1,"connection":1,"stream":1,"payload_bytes":0,"headers":[null]}"# + "\n"
                    ),
                    "is not a request"
                ),
            ] {
                try await stage.browser.choose(file: file, in: "#record-file")
                try await stage.browser.wait(
                    until: "document.querySelector('#record-outcome').textContent.includes('\(words)')")
            }
            #expect(try await stage.browser.number("document.querySelectorAll('#rows .row').length") == 601)
            // Back to what comes.
            try await stage.browser.run("document.querySelector('#pause').click()")
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
            #expect(try await stage.browser.text("\(last).textContent") == "Of this one")
            try await stage.browser.choose(file: file, in: "#record-file")
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 601")
            #expect(try await stage.browser.text("document.querySelector('#record-file').value") == "")
            try await stage.end()
        }

        @Test func `goes on after a mistake of its own`() async throws {
            let stage = try await PageStage()
            try await stage.browser.run(
                """
                window.right = Number.prototype.toLocaleString,
                Number.prototype.toLocaleString = () => {
                  Number.prototype.toLocaleString = right;
                  window.failed = true;
                  throw new Error("made for the test");
                }
                """)
            try await stage.browser.wait(until: "window.failed")
            try await stage.push(#"{"aps":{"alert":"Hello"}}"#)
            try await stage.browser.wait(until: "document.querySelector('#figure-requests').textContent === '1'")
            try await stage.end(complains: true)
        }

        @Test func `tells in plain words why a push was refused`() async throws {
            let stage = try await PageStage()
            #expect(try await stage.push(#"{"aps":{"alert":"Hello"}}"#, to: "dead0123") == 410)
            try await stage.browser.wait(until: "document.querySelector('#rows .refused')")
            let row = try await stage.browser.text("document.querySelector('#rows .refused').textContent")
            #expect(row.contains("Unregistered The app is no longer on the device."), "\(row)")
            #expect(try await stage.browser.holds("document.querySelector('#stacks .card') === null"))
            try await stage.browser.wait(until: "document.querySelector('#figure-refused').textContent === '1'")
            try await stage.end()
        }

        @Test func `shows markup as text, and runs nothing of it`() async throws {
            let stage = try await PageStage()
            let title = "<img src=/x onerror=window.owned=1>"
            let body = "<script>window.owned=1</script><b>&amp;</b>"
            try await stage.push(
                #"{"aps":{"alert":{"title":"\#(title)","body":"\#(body)"},"thread-id":"<i>","sound":"<u>"},"k":"<s>"}"#,
                ["apns-collapse-id: <em>"])
            try await stage.browser.wait(
                until: "document.querySelector('#stacks .card') && document.querySelector('.row')")
            #expect(try await stage.browser.text("document.querySelector('.card .title').textContent") == title)
            #expect(try await stage.browser.text("document.querySelector('.card .body').textContent") == body)
            #expect(
                try await stage.browser.text("document.querySelector('.row .opener').textContent")
                    == "\(title) · \(body)")
            try await stage.browser.run("document.querySelector('.row .opener').click()")
            try await stage.browser.wait(until: "document.querySelector('#detail pre')")
            #expect(try await stage.browser.text("document.querySelector('#detail pre').textContent").contains(title))
            let made = "document.querySelectorAll('img, b, i, u, s, em, body script').length"
            #expect(try await stage.browser.number(made) == 0)
            #expect(try await stage.browser.holds("window.owned === undefined"))
            // Were there a line of script that makes markup, it would throw.
            await #expect(throws: ProcessError.self) {
                try await stage.browser.run("document.body.insertAdjacentHTML('beforeend', '<p>')")
            }
            try await stage.browser.press(.escape)
            try await stage.end(complains: true)
        }

        @Test func `no shape of a payload breaks it`() async throws {
            let stage = try await PageStage()
            for push in Samples.oddPushes { try await stage.push(push.json, to: push.device, push.headers) }
            let count = Samples.oddPushes.count
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === \(count)")
            // Each can be looked at.
            try await stage.browser.run("document.querySelectorAll('.more').forEach((button) => button.click())")
            try await stage.browser.run(
                """
                window.shown = document.querySelector("#stacks").textContent,
                document.querySelectorAll(".opener").forEach((opener) => {
                  opener.click();
                  shown += document.querySelector("#detail").textContent;
                  document.querySelector("#detail").close();
                })
                """)
            // What every object has, taken for a name that the page knows.
            #expect(try await stage.browser.holds("shown.includes('constructor') && !shown.includes('native code')"))
            #expect(try await stage.browser.holds("document.documentElement.scrollWidth <= innerWidth"))
            #expect(try await stage.browser.text("document.querySelector('#link').dataset.state") == "there")
            try await stage.end()
        }

        @Test func `shows each connection with its streams`() async throws {
            let stage = try await PageStage("--delay-ms", "600000")
            let client = try await stage.startPush(#"{"aps":{"alert":"Hello"}}"#)
            let text = "document.querySelector('#connection-list').innerText"
            try await stage.browser.wait(until: "\(text).includes('1 of 1 stream')")
            let words = try await stage.browser.text(text)
            for word in ["Connection 1", "production, push", "1 request"] {
                #expect(words.contains(word), "\(word) in \(words)")
            }
            #expect(try await stage.browser.text("document.querySelector('#figure-in-flight').textContent") == "1")
            try await client.terminate()
            try await stage.browser.wait(until: "!document.querySelector('#connections-nothing').hidden")
            try await stage.end()
        }

        @Test func `shows a request whole, by keyboard alone`() async throws {
            let stage = try await PageStage()
            // What a program that reads and writes JSON anew would change.
            try await stage.push(#"{"aps":{"alert":"N\u00b0","badge":1.50e1},"a":1,"a":12345678901234567890}"#)
            try await stage.browser.wait(until: "document.querySelector('#rows .row')")
            try await stage.tab(to: "#rows .opener")
            try await stage.browser.press(.enter)
            #expect(try await stage.browser.holds("document.querySelector('#detail').open"))
            let text = try await stage.browser.text("document.querySelector('#detail').innerText")
            for word in ["1.50e1", #""N\u00b0""#, "12345678901234567890", ":path", "apns-topic", "com.example.app"] {
                #expect(text.contains(word), "\(word) in \(text)")
            }
            // nghttp never lets a provider token into a table.
            let token =
                "[...document.querySelectorAll('.headers li')].find((li) => li.textContent.startsWith('authorization'))"
            #expect(try await stage.browser.text("\(token).textContent").contains("never"))
            try await stage.browser.press(.escape)
            #expect(try await stage.browser.holds("document.querySelector('#detail').open") == false)
            #expect(try await stage.browser.holds("document.activeElement.matches('#rows .opener')"))
            try await stage.end()
        }

        @Test func `adds and removes a fault by keyboard`() async throws {
            let stage = try await PageStage()
            let payload = #"{"aps":{"alert":"Hello"}}"#
            #expect(try await stage.push(payload) == 200)
            try await stage.browser.run("document.querySelector('#fault-skip').value = '1'")
            try await stage.tab(to: "#fault-topic")
            try await stage.browser.type("com.example.app")
            try await stage.tab(to: "button[value='503']")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(until: "document.querySelector('#fault-list li')")
            #expect(try await stage.push(payload) == 200)
            #expect(try await stage.push(payload) == 503)
            #expect(try await stage.push(payload, ["apns-topic: com.example.other"]) != 503)
            try await stage.browser.wait(
                until: "document.querySelector('#fault-list .about').textContent.includes('struck once')")
            let words = try await stage.browser.text("document.querySelector('#fault-list').innerText")
            #expect(words.contains("Answers 503 ServiceUnavailable"), "\(words)")
            #expect(words.contains("Requests to com.example.app · after 1 other"), "\(words)")

            try await stage.tab(to: "#fault-list button")
            try await stage.browser.press(.space)
            try await stage.browser.wait(until: "!document.querySelector('#fault-list li')")
            #expect(try await stage.push(payload) == 200)
            try await stage.end()
        }

        @Test func `tells why a fault was refused`() async throws {
            let stage = try await PageStage()
            try await stage.tab(to: "#fault-topic")
            try await stage.browser.type(String(repeating: "x", count: 300))
            try await stage.tab(to: "button[value='silence']")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(until: "document.querySelector('#fault-outcome.failed')")
            let words = try await stage.browser.text("document.querySelector('#fault-outcome').textContent")
            #expect(words.hasPrefix("That failed: ") && words.contains("topic"), "\(words)")
            #expect(try await stage.browser.holds("!document.querySelector('#fault-list li')"))
            for scheme in Browser.Scheme.allCases {
                try await stage.browser.prefer(scheme)
                #expect(try await stage.browser.text(Contrast.belowLimit) == "", "\(scheme)")
                try await stage.writePicture("failure-\(scheme)")
            }
            try await stage.end(complains: true)
        }

        @Test func `does things to connections at once`() async throws {
            let stage = try await PageStage("--delay-ms", "600000")
            try await stage.tab(to: "[data-action='goaway']")
            try await stage.browser.press(.enter)
            let outcome = "document.querySelector('#action-outcome').textContent"
            try await stage.browser.wait(until: "\(outcome) === 'No client is connected.'")

            let client = try await stage.startPush(#"{"aps":{"alert":"Hello"}}"#)
            try await stage.browser.wait(until: "document.querySelector('#connection-list .grave')")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(until: "\(outcome) === 'Done to 1 connection.'")
            try await stage.tab(to: "#connection-list .grave")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(until: "!document.querySelector('#connection-list li')")
            try await stage.browser.wait(
                until: "document.querySelector('#connection-outcome').textContent === 'Now connection 1 is cut.'")
            _ = try await client.exit(within: .seconds(30))
            try await stage.end()
        }

        @Test func `sets the clock, and starts over`() async throws {
            let stage = try await PageStage()
            let payload = #"{"aps":{"alert":"Hello"}}"#
            #expect(try await stage.push(payload) == 200)
            try await stage.browser.wait(until: "document.querySelector('#rows .row')")
            try await stage.tab(to: "[data-offset='3900']")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(
                until: "document.querySelector('#clock-reading').textContent.includes('1 h 5 min ahead')")
            // The token was made by this machine's clock.
            #expect(try await stage.push(payload) == 403)
            try await stage.tab(to: "#reset")
            try await stage.browser.press(.enter)
            try await stage.browser.wait(
                until: "document.querySelector('#clock-reading').textContent.includes('right')")
            try await stage.browser.wait(until: "!document.querySelector('#rows .row')")
            #expect(try await stage.push(payload) == 200)
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
            try await stage.browser.wait(until: "document.querySelector('#figure-requests').textContent === '1'")
            try await stage.browser.run("document.querySelector('#rows .opener').click()")
            #expect(
                try await stage.browser.text("document.querySelector('#detail-heading').textContent") == "Request 1")
            #expect(try await stage.browser.holds("document.querySelector('#older').hidden"))
            try await stage.end()
        }

        @Test func `counts what broke the rules of HTTP`() async throws {
            let stage = try await PageStage()
            let client = try await stage.startPush(#"{"aps":{"alert":"Hello"}}"#, ["connection: close"])
            _ = try await client.exit(within: .seconds(30))
            try await stage.browser.wait(until: "document.querySelectorAll('#rows .row').length === 1")
            try await stage.browser.wait(until: "document.querySelector('#figure-refused').textContent === '1'")
            #expect(try await stage.browser.text("document.querySelector('#figure-requests').textContent") == "1")
            try await stage.end()
        }

        @Test func `fits a phone, and can be read in light and dark`() async throws {
            let stage = try await PageStage()
            let word = String(repeating: "Donaudampfschifffahrt", count: 8)
            for push in Samples.payloads(longWord: word) {
                #expect(try await stage.push(push.json, to: push.device, push.headers) == 200, "\(push)")
            }
            try await stage.push(#"{"aps":{"alert":"Hello"}}"#, to: "dead0123")
            let browser = stage.browser
            for fault in Samples.faults {
                try await browser.run("fetch('/v1/faults', { method: 'POST', body: JSON.stringify(\(fault)) })")
            }
            let client = try await stage.startPush(#"{"aps":{"alert":"Hello"}}"#, to: "ff00")
            try await browser.wait(
                until: "document.querySelectorAll('#fault-list li').length === \(Samples.faults.count)")
            try await browser.wait(until: "document.querySelector('#connection-list li')")
            try await browser.wait(until: "document.querySelector('#rows .refused')")
            try await browser.run("document.querySelectorAll('.more').forEach((button) => button.click())")
            for scheme in Browser.Scheme.allCases {
                try await browser.prefer(scheme)
                for (device, width, height) in [("phone", 360, 740), ("tablet", 820, 1180), ("desktop", 1440, 900)] {
                    try await browser.resize(width: width, height: height, isPhone: device == "phone")
                    for part in ["lock", "requests", "faults", "connections"] {
                        try await browser.run("location.hash = '#\(part)'")
                        try await browser.wait(until: "document.body.dataset.view === '\(part)'")
                        let size = try await browser.number("document.documentElement.scrollWidth")
                        #expect(size <= width, "\(part) on a \(device)")
                        if device == "desktop" {
                            // Its columns scroll, not the whole.
                            #expect(try await browser.holds("document.documentElement.scrollHeight <= innerHeight"))
                        }
                        #expect(try await browser.text(Contrast.belowLimit) == "", "\(part) on a \(device), \(scheme)")
                        try await stage.writePicture("\(device)-\(scheme)-\(part)")
                    }
                    try await browser.run("document.querySelector('#rows .opener').click()")
                    #expect(try await browser.text(Contrast.belowLimit) == "")
                    let isInside = "document.querySelector('#detail').scrollWidth <= innerWidth"
                    #expect(try await browser.holds(isInside), "a request on a \(device)")
                    try await stage.writePicture("\(device)-\(scheme)-detail")
                    try await browser.press(.escape)
                    // Else it takes its name out of the address after the next part's has come into it.
                    try await browser.wait(until: "!location.hash.startsWith('#request-')")
                }
            }
            try await client.terminate()
            try await stage.end()
        }

        @Test func `says that the simulator is gone, and comes back with it`() async throws {
            let stage = try await PageStage()
            try await stage.push(#"{"aps":{"alert":"Before"}}"#)
            try await stage.browser.wait(until: "document.querySelector('#rows .row')")
            try await stage.simulator.process.terminate()
            try await stage.browser.wait(until: "!document.querySelector('#gone').hidden")
            #expect(try await stage.browser.text("document.querySelector('#gone').textContent").contains("is gone"))
            let directory = try TemporaryDirectory("again")
            let again = try await SimulatorProcess(
                in: directory, options: ["--admin", "127.0.0.1:\(try #require(stage.simulator.adminPort))"])
            try await stage.browser.wait(until: "document.querySelector('#gone').hidden")
            // What it shows is what the new one remembers.
            try await stage.browser.wait(until: "!document.querySelector('#rows .row')")
            try await stage.end(complains: true)
            try await again.process.terminate()
        }
    }
}
