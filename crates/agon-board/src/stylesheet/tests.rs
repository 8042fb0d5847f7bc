//! Tests of expressions, instructions and refusals.

use super::*;

fn draw(templates: &str, state: &[&str]) -> Result<String, String> {
    let sheet = format!(
        "<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\">\
         <xsl:param name=\"width\" select=\"400\"/>{templates}</xsl:stylesheet>"
    );
    let state: Vec<String> = state.iter().map(|fact| (*fact).to_owned()).collect();
    let load = |address: &str| match address {
        "row.xsl" => Ok("<xsl:stylesheet version=\"1.0\" \
             xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\">\
             <xsl:template name=\"row\"><u/></xsl:template></xsl:stylesheet>"
            .to_owned()),
        _ => Err("there is no such file".to_owned()),
    };
    let sheet = Stylesheet::new(sheet, &load).map_err(|error| error.to_string())?;
    let drawing = sheet.draw(&state, &StylesheetOptions::default());
    drawing.map(|drawing| drawing.xml).map_err(|error| error.to_string())
}

/// Returns the value of an expression as text.
fn value(expression: &str) -> String {
    let expression = expression.replace('<', "&lt;");
    let template =
        format!("<xsl:template match=\"/\"><xsl:value-of select=\"{expression}\"/></xsl:template>");
    let state = ["(cell 1 1 x)", "(cell 2 1 o)", "(cell 3 1 x)", "(control white)", "over"];
    draw(&template, &state).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

#[test]
fn expressions_have_the_values_of_xpath() {
    for (expression, wanted) in [
        ("1 + 2 * 3", "7"),
        ("7 mod 3 - 10 div 4", "-1.5"),
        ("0.1 + 0.2", "0.3"),
        ("-(2 - 5)", "3"),
        ("1 div 0", "Infinity"),
        ("number('x')", "NaN"),
        ("$width * 0.5", "280"),
        ("count(//fact)", "5"),
        ("count(//fact[relation='cell' and argument[3]='x'])", "2"),
        ("//fact[relation='cell'][2]/argument[1]", "2"),
        ("//fact[relation='cell'][last()]/argument[1]", "3"),
        ("/state/fact[argument[1] &gt; 2]/argument[3]", "x"),
        ("boolean(//fact[argument = 'white'])", "true"),
        ("//fact[argument='black'] or not(//fact)", "false"),
        ("//argument = 'o' and //argument != 'o'", "true"),
        ("count(//fact | //fact[1] | //argument)", "15"),
        ("//fact[.='over']", "over"),
        ("translate('abcd', 'bd', 'B')", "aBc"),
        ("substring('12345', 2, 3)", "234"),
        ("substring('12345', 1.5, 2.6)", "234"),
        ("concat('a', 1 + 1, 'b')", "a2b"),
        ("starts-with('cell', 'ce')", "true"),
        ("substring-after('a-b', '-')", "b"),
        ("string-length(normalize-space('  a   b '))", "3"),
        ("round(2.5) + floor(-0.5)", "2"),
        ("sum(//fact[relation='cell']/argument[1])", "6"),
        ("(//fact)[1]/relation", "cell"),
        ("//fact[1]/following-sibling::fact[1]/argument[1]", "2"),
        ("//argument[.='o']/../relation", "cell"),
    ] {
        assert_eq!(value(expression), wanted, "{expression}");
    }
}

#[test]
fn recursion_is_a_loop_and_attributes_belong_to_their_element() {
    let templates = "
        <xsl:template match=\"/\"><tr><xsl:call-template name=\"cell\"/></tr></xsl:template>
        <xsl:template name=\"cell\">
          <xsl:param name=\"col\" select=\"1\"/>
          <td class=\"c{$col}\"><xsl:attribute name=\"id\">cell_<xsl:value-of select=\"$col\"/>
            </xsl:attribute>
            <xsl:choose>
              <xsl:when test=\"//fact[argument[1]=$col and argument[2]='x']\">X</xsl:when>
              <xsl:otherwise>-</xsl:otherwise>
            </xsl:choose></td>
          <xsl:if test=\"$col &lt; 3\"><xsl:call-template name=\"cell\">
            <xsl:with-param name=\"col\" select=\"$col + 1\"/></xsl:call-template></xsl:if>
        </xsl:template>";
    let drawn = draw(templates, &["(cell 2 x)"]).expect("the sheet is valid");
    let text: String = drawn.split_whitespace().collect();
    assert_eq!(
        text,
        "<tr><tdclass=\"c1\"id=\"cell_1\">-</td><tdclass=\"c2\"id=\"cell_2\">X</td>\
         <tdclass=\"c3\"id=\"cell_3\">-</td></tr>"
    );
}

#[test]
fn nodes_are_sorted_imported_and_matched() {
    let templates = "<xsl:import href=\"row.xsl\"/>
        <xsl:template match=\"/\"><p><xsl:for-each select=\"//fact\">
          <xsl:sort select=\"argument[1]\" data-type=\"number\" order=\"descending\"/>
          <xsl:value-of select=\"argument[1]\"/></xsl:for-each>
          <xsl:call-template name=\"row\"/><xsl:apply-templates select=\"//fact[1]\"/></p></xsl:template>
        <xsl:template match=\"fact\"><i/></xsl:template>
        <xsl:template match=\"state/fact\"><b/></xsl:template>";
    assert_eq!(draw(templates, &["(n 9)", "(n 10)"]).as_deref(), Ok("<p>109<u/><b/></p>"));
}

#[test]
fn faults_are_named_with_their_lines() {
    let root = |inner: &str| format!("\n<xsl:template match=\"/\">\n{inner}\n</xsl:template>");
    for (inner, wanted) in [
        ("<xsl:value-of select=\"key('k', 1)\"/>", "line 3: `key` with 2 arguments is not"),
        ("<xsl:number/>", "line 3: xsl:number is not supported here"),
        ("<xsl:value-of select=\"@id\"/>", "`@id`: states have no attributes"),
        ("<xsl:value-of select=\"$nothing\"/>", "line 3: there is no variable `$nothing`"),
        ("<xsl:value-of select=\"1 +\"/>", "`1 +`: the name of an element is missing"),
        ("<xsl:call-template name=\"none\"/>", "line 3: there is no template `none`"),
        ("<xsl:if>a</xsl:if>", "line 3: xsl:if needs the attribute `test`"),
    ] {
        let error = draw(&root(inner), &[]).expect_err(inner);
        assert!(error.contains(wanted), "{inner}: {error}");
    }
    let endless =
        "<xsl:template match=\"/\" name=\"a\"><xsl:call-template name=\"a\"/></xsl:template>";
    assert!(draw(endless, &[]).expect_err("it never ends").contains("endless loop"));
    let missing = draw("<xsl:import href=\"other.xsl\"/>", &[]).expect_err("a missing file");
    assert!(missing.contains("cannot import other.xsl"), "{missing}");
    let load = |_: &str| Err(String::new());
    assert!(Stylesheet::new("no xml".to_owned(), &load).is_err());
}

#[test]
fn states_are_written_in_the_form_of_ggp_org() {
    let state = ["(cell 1 (piece king <w>))".to_owned(), "over".to_owned()];
    assert_eq!(
        state_xml(&state),
        "<state><fact><relation>cell</relation><argument>1</argument><argument><relation>piece\
         </relation><argument>king</argument><argument>&lt;w&gt;</argument></argument></fact>\n\
         <fact>over</fact>\n</state>"
    );
}

#[test]
fn pages_hold_styles_as_they_stand_and_close_what_html_closes() {
    let sheet = "<xsl:stylesheet version=\"1.0\" \
        xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\"><xsl:template match=\"/\">\
        <div><style>a &gt; b {}</style><img src=\"&ROOT;/x.png\"/><td/></div></xsl:template>\
        </xsl:stylesheet>";
    let sheet = Stylesheet::new(sheet.to_owned(), &|_| Err(String::new())).expect("valid");
    let options = StylesheetOptions { root: "images".to_owned(), ..StylesheetOptions::default() };
    let drawing = sheet.draw(&[], &options).expect("valid");
    assert_eq!(
        drawing.html,
        "<div><style>a > b {}</style><img src=\"images/x.png\"><td></td></div>"
    );
    assert!(drawing.page("a < b").contains("<title>a &lt; b</title>"));
}
