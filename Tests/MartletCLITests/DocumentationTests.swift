import Glibc
import TestKit
import Testing

/// The links in the README and in `Sources/Documentation`, and the existence of the files and headings they refer to.
@Suite struct DocumentationTests {
    private static let folder = "Sources/Documentation"
    private let pages: [String: MarkdownPage]

    init() throws {
        let paths = ["README.md"] + (try Files.paths(below: Self.folder)).filter { $0.hasSuffix(".md") }
        pages = Dictionary(uniqueKeysWithValues: try paths.map { ($0, try MarkdownPage($0)) })
    }

    @Test func linksLeadToFilesAndHeadings() throws {
        let links = pages.values.flatMap(\.links)
        #expect(links.count > 100)
        for link in links {
            #expect(access(Products.file(link.path), F_OK) == 0, "\(link)")
            guard let anchor = link.anchor else { continue }
            #expect(pages[link.path]?.anchors.contains(anchor) == true, "\(link)")
        }
        #expect(pages.values.filter { $0.text.contains("<doc:") }.map(\.path) == [])
    }

    @Test func everyPageAndImageIsReachableFromTheREADME() throws {
        var reached: Set = ["README.md"]
        var next = ["README.md"]
        while let path = next.popLast() {
            next += pages[path]?.links.map(\.path).filter { reached.insert($0).inserted } ?? []
        }
        #expect(try Files.paths(below: Self.folder).filter { !reached.contains($0) } == [])
    }

    @Test func theIndexListsEveryDecisionWithItsStatus() throws {
        let index = try #require(pages["\(Self.folder)/Decisions/Index.md"])
        let decisions = pages.values.filter { $0.path.hasPrefix("\(Self.folder)/Decisions/0") }
        #expect(decisions.count >= 40)
        for page in decisions {
            let beginning = try #require(page.text.prefixMatch(of: /# (\d+)\. (.*)\n\nStatus: (.*)\n/), "\(page.path)")
            let file = try #require(page.path.split(separator: "/").last)
            #expect(Int(file.prefix(4)) == Int(beginning.1), "\(page.path)")
            let row = "| \(beginning.1) | [\(beginning.2)](\(file)) | \(beginning.3) |"
            #expect(index.text.contains(row), "\(row)")
        }
    }
}

/// A Markdown page of the repository, with its links and headings.
private struct MarkdownPage {
    struct Link: CustomStringConvertible {
        var page: String
        /// Path from the repository's root.
        var path: String
        /// The fragment without the number sign.
        var anchor: String?

        var description: String { "\(page): \(path)\(anchor.map { "#\($0)" } ?? "")" }
    }

    /// Path from the repository's root.
    let path: String
    let text: String
    /// Targets of links and images within the repository.
    let links: [Link]
    /// The fragments that GitHub and GitLab assign to the headings.
    let anchors: Set<String>

    init(_ path: String) throws {
        self.path = path
        text = String(decoding: try Files.bytes(of: Products.file(path)), as: UTF8.self)
        let prose = text.replacing(/(?s)```.*?```/, with: "")
        links = prose.replacing(/`[^`]*`/, with: "").matches(of: /\]\(([^)\s]+)\)/)
            .filter { !$0.1.hasPrefix("https://") && !$0.1.hasPrefix("http://") }
            .map { Self.link(String($0.1), on: path) }
        var anchors: Set<String> = []
        for heading in prose.matches(of: /(?m)^#+ (.*)$/) {
            let anchor = Self.anchor(of: heading.1)
            // Repeated headings get a number.
            _ = (0...).lazy.map { $0 == 0 ? anchor : "\(anchor)-\($0)" }.first { anchors.insert($0).inserted }
        }
        self.anchors = anchors
    }

    private static func link(_ target: String, on page: String) -> Link {
        let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        var folders = page.split(separator: "/").dropLast()
        for name in parts[0].split(separator: "/") {
            if name == ".." { _ = folders.popLast() } else if name != "." { folders.append(name) }
        }
        return Link(
            page: page, path: parts[0].isEmpty ? page : folders.joined(separator: "/"),
            anchor: parts.count > 1 ? String(parts[1]) : nil)
    }

    private static func anchor(of heading: Substring) -> String {
        String(
            heading.lowercased().compactMap { character in
                if character == " " { return "-" }
                return character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
            })
    }
}
