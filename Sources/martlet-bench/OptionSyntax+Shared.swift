import CommandKit

/// Options that several benchmarks share.
extension OptionSyntax {
    static let json = OptionSyntax(name: "json", help: "print JSON instead of a table")
    static let quick = OptionSyntax(
        name: "quick", help: "run one small sample to test the benchmark; its figures are meaningless")

    static func samples(_ standard: Int) -> OptionSyntax {
        OptionSyntax(name: "samples", value: "N", help: "samples of each program (\(standard))")
    }

    static func messages(_ standard: Int) -> OptionSyntax {
        OptionSyntax(name: "messages", value: "N", help: "requests per sample (\(standard))")
    }

    static func plot(_ help: String) -> OptionSyntax { OptionSyntax(name: "plot", value: "FILE", help: help) }

    static func setting(_ setting: WorkSetting, value: String = "N") -> OptionSyntax {
        let standard = EndToEndOptions()[keyPath: setting.path]
        return OptionSyntax(name: setting.rawValue, value: value, help: "\(setting.help) (\(standard))")
    }
}
