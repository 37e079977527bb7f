import JSON

/// The meta-schemas of draft-07 and 2020-12, as json-schema.org publishes them. Schemas can refer to these
/// meta-schemas.
enum MetaSchemas {
    static func document(_ uri: String) -> JSONDocument? {
        guard let text = text(uri) else { return nil }
        // The texts are part of this program. A test parses all of them.
        return try? JSONDocument(text)
    }

    private static func text(_ uri: String) -> [UInt8]? {
        switch uri {
        case "http://json-schema.org/draft-07/schema": PackageResources.draft_07_json
        case "https://json-schema.org/draft/2020-12/schema": PackageResources.draft2020_12_json
        case "https://json-schema.org/draft/2020-12/meta/core": PackageResources.draft2020_12_core_json
        case "https://json-schema.org/draft/2020-12/meta/applicator": PackageResources.draft2020_12_applicator_json
        case "https://json-schema.org/draft/2020-12/meta/unevaluated": PackageResources.draft2020_12_unevaluated_json
        case "https://json-schema.org/draft/2020-12/meta/validation": PackageResources.draft2020_12_validation_json
        case "https://json-schema.org/draft/2020-12/meta/meta-data": PackageResources.draft2020_12_meta_data_json
        case "https://json-schema.org/draft/2020-12/meta/format-annotation":
            PackageResources.draft2020_12_format_annotation_json
        case "https://json-schema.org/draft/2020-12/meta/format-assertion":
            PackageResources.draft2020_12_format_assertion_json
        case "https://json-schema.org/draft/2020-12/meta/content": PackageResources.draft2020_12_content_json
        default: nil
        }
    }
}
