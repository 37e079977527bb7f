import Testing

@testable import APNSSimulator

@Suite struct PageFileTests {
    private let texts = Dictionary(
        uniqueKeysWithValues: PageFile.all.map { ($0.path, String(decoding: $0.bytes, as: UTF8.self)) })

    @Test func `serves each referenced file`() throws {
        let scripts = texts.filter { $0.key.hasSuffix(".js") }
        #expect(scripts.count > 10)
        var named = try #require(texts["/"]).matches(of: /(?:href|src)="([a-z]+\.[a-z]+)"/).map { "/\($0.1)" }
        #expect(Set(["/page.js", "/page.css", "/icon.svg"]).isSubset(of: named))
        for text in scripts.values {
            for match in text.matches(of: /from "\.([^"]+)"/) { named.append(String(match.1)) }
        }
        #expect(Set(named + ["/"]) == Set(PageFile.all.map(\.path)))
    }

    @Test(arguments: ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "srcdoc", "javascript:"])
    func `contains no function that parses markup`(word: String) {
        for (path, text) in texts { #expect(!text.contains(word), "\(path)") }
    }

    @Test func `loads nothing from other origins`() {
        for (path, text) in texts {
            let addresses = text.matches(of: /https?:\/\/[^"' )]+/).map { String($0.0) }
            // Addresses from the simulator's data are shown, not loaded.
            let fixed = addresses.filter { !$0.hasPrefix("https://${") }
            #expect(Set(fixed).isSubset(of: ["http://www.w3.org/2000/svg"]), "\(path)")
            #expect(!text.contains("url("), "\(path)")
        }
    }

    @Test func `serves no other paths`() {
        #expect(PageFile.at("/page") == nil)
        #expect(PageFile.at("/../page.js") == nil)
        #expect(PageFile.at("/")?.contentType == "text/html; charset=utf-8")
    }
}
