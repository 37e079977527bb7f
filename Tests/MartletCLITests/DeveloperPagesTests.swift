import Glibc
import TestKit
import Testing

/// Paths and types that the pages for developers name exist.
@Suite struct DeveloperPagesTests {
    @Test func thePathsOfEachChangeExist() throws {
        let names = try Self.names(in: "Changing.md").filter { $0.contains("/") && !$0.contains("…") }
        #expect(names.count > 80)
        // The example of a file to add.
        for name in names where name != "Delivery/Limits/QuietHours.swift" {
            let exists = ["", "Sources/", "Tests/"].contains { access(Products.file($0 + name), F_OK) == 0 }
            #expect(exists, "\(name)")
        }
    }

    /// The name of an API: `Breaker`, or `Breaker.firstProbeSeconds`.
    @Test(arguments: ["Architecture.md", "Changing.md", "Structure.md"]) func theTypesOfAPageExist(page: String) throws
    {
        let types = try Self.names(in: page).filter { $0.wholeMatch(of: /[A-Z][a-z]\w*(\.[a-z]\w*)*/) != nil }
        let declared = try Set(
            Self.sources(in: "Sources").flatMap { file in
                String(decoding: try Files.bytes(of: Products.file(file)), as: UTF8.self).split {
                    !$0.isLetter && !$0.isNumber
                }
            })
        // Except files and folders of tests.
        for type in types where !type.hasSuffix(".swift") && !type.hasSuffix("Tests") {
            #expect(type.split(separator: ".").allSatisfy(declared.contains), "\(type)")
        }
    }

    /// The texts in backticks outside code blocks.
    private static func names(in page: String) throws -> [String] {
        let path = Products.file("Sources/Documentation/Developers/\(page)")
        let text = String(decoding: try Files.bytes(of: path), as: UTF8.self).replacing(/(?s)```.*?```/, with: "")
        return text.matches(of: /`([^`\n]*)`/).map { String($0.1) }
    }

    private static func sources(in folder: String) throws -> [String] {
        try Files.names(in: Products.file(folder)).flatMap { name in
            let path = "\(folder)/\(name)"
            if name.hasSuffix(".swift") || name.hasSuffix(".c") { return [path] }
            return name.contains(".") || name == "Documentation" ? [] : try sources(in: path)
        }
    }
}
