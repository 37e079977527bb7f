import Glibc
import TestKit
import Testing

/// A simulator as a process, and its page in a real Chromium.
struct PageFixture {
    let browser: Browser
    let simulator: SimulatorProcess
    /// The page's address without the slash at its end.
    let origin: String
    private let directory: TemporaryDirectory

    /// - Parameter options: more of the simulator's.
    init(_ options: String...) async throws {
        directory = try TemporaryDirectory("page")
        simulator = try await SimulatorProcess(in: directory, options: ["--admin", "127.0.0.1:0"] + options)
        origin = "http://127.0.0.1:\(try #require(simulator.adminPort))"
        browser = try await Browser()
        try await browser.resize(width: 1440, height: 900)
        try await open()
    }

    /// Loads the page and waits until it has heard from the simulator.
    func open(_ part: String = "") async throws {
        // A page that differs in its fragment alone would not be loaded anew.
        try await browser.open("about:blank")
        try await browser.open("\(origin)/\(part)")
        try await browser.wait(until: "document.querySelector('#link').dataset.state === 'there'")
        try await browser.wait(until: "document.querySelector('#figure-requests').textContent !== '–'")
    }

    /// Pushes with a client that knows nothing of APNs; the status that it is answered.
    ///
    /// - Parameter headers: more of them, or others, as `name: value`.
    @discardableResult
    func push(_ payload: String, to device: String = "00fc13adff785122", _ headers: [String] = []) async throws -> Int {
        let lines = try await ChildProcess.run(command(payload, device, headers)).output
        return try #require(lines.firstMatch(of: ":status: "))
    }

    /// Pushes and does not wait for the answer; the client, to be ended.
    func startPush(
        _ payload: String, to device: String = "00fc13adff785122", _ headers: [String] = []
    ) async throws -> ChildProcess {
        try await ChildProcess(command(payload, device, headers))
    }

    /// Pushes so many times, to 50 devices; each is answered with 200.
    func load(_ requests: Int) async throws {
        let load = try LoadGenerator(
            connections: 1, streams: 10, devices: 50, authorization: try simulator.authorization(), in: directory)
        _ = try await load.run(requests, port: simulator.port)
    }

    private func command(_ payload: String, _ device: String, _ headers: [String]) throws -> [String] {
        let file = try directory.write("payload.json", payload)
        let topic = headers.contains { $0.hasPrefix("apns-topic:") } ? [] : ["apns-topic: com.example.app"]
        let authorization = "authorization: \(try simulator.authorization())"
        return ["nghttp", "-v", "--no-verify-peer", "-d", file]
            + ([":method: POST", authorization] + topic + headers).flatMap { ["-H", $0] }
            + ["https://127.0.0.1:\(simulator.port)/3/device/\(device)"]
    }

    /// Presses the tabulator until `selector` has the focus.
    func tab(to selector: String, atMost pressesMax: Int = 80) async throws {
        for _ in 0..<pressesMax {
            try await browser.press(.tab)
            if try await browser.holds("document.activeElement.matches(`\(selector)`)") { return }
        }
        Issue.record("\(selector) cannot be reached by the tabulator")
    }

    /// Ends both. The page has asked nobody else for anything, and its console is empty.
    ///
    /// - Parameter complains: whether there was a reason to.
    func end(complains: Bool = false) async throws {
        let elsewhere = try await browser.requestedURLs().filter { !$0.hasPrefix("\(origin)/") && $0 != "about:blank" }
        #expect(elsewhere == [])
        if !complains { #expect(try await browser.complaints() == []) }
        try await writePicture("end")
        try await browser.close()
        #expect(try await simulator.process.terminate().status == .exited(0))
    }

    /// For people who want to look: a picture in the folder that MARTLET_PICTURES names, if there is one.
    func writePicture(_ name: String) async throws {
        guard let folder = getenv("MARTLET_PICTURES").map({ String(cString: $0) }) else { return }
        let arrived = "Promise.all(document.getAnimations().map((animation) => animation.finished)).then(() => true)"
        #expect(try await browser.holds(arrived))
        try await browser.writePicture(to: "\(folder)/\(name).png")
    }
}

extension [String] {
    /// The number behind `text` in the first line that has it.
    fileprivate func firstMatch(of text: String) -> Int? {
        for line in self {
            if let range = line.firstRange(of: text) { return Int(line[range.upperBound...].prefix(3)) }
        }
        return nil
    }
}
