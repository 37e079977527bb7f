import CommandKit

/// Options of several benchmarks.
extension OptionSyntax {
    static let json = OptionSyntax(name: "json", help: "print JSON instead of a table")
    static let quick = OptionSyntax(
        name: "quick", help: "a small amount of work, one sample: whether it works, not how fast")

    static func samples(_ standard: Int) -> OptionSyntax {
        OptionSyntax(name: "samples", value: "N", help: "of each program (\(standard))")
    }

    static func messages(_ standard: Int) -> OptionSyntax {
        OptionSyntax(name: "messages", value: "N", help: "of a sample (\(standard))")
    }

    static func plot(_ help: String) -> OptionSyntax { OptionSyntax(name: "plot", value: "FILE", help: help) }

    static func setting(_ setting: WorkSetting, value: String = "N") -> OptionSyntax {
        let standard = EndToEndOptions()[keyPath: setting.path]
        return OptionSyntax(name: setting.rawValue, value: value, help: "\(setting.help) (\(standard))")
    }
}
